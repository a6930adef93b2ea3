/** The events that Freshet's own services send each other, as they are in memory and on the wire. */
import { AvroType } from './avro.ts';
import {
  bytesOf,
  float32s,
  float64s,
  packLists,
  packStrings,
  unpackLists,
  unpackStrings,
} from './packing.ts';

export type Side = 'user' | 'item';

export const sides: readonly Side[] = ['user', 'item'];

/** Orders the states of one shard: a higher epoch, or a higher sequence in the same epoch. */
export interface Version {
  epoch: number;
  sequence: number;
}

export function isNewer(candidate: Version, known: Version | undefined): boolean {
  if (known === undefined || candidate.epoch !== known.epoch) {
    return known === undefined || candidate.epoch > known.epoch;
  }
  return candidate.sequence > known.sequence;
}

export interface FactorBatch extends Version {
  side: Side;
  shard: number;
  from: number;
  next: number;
  factorCount: number;
  ids: string[];
  vectors: Float32Array;
  /** What is kept with each vector beside it: six numbers of an item, none of a user. */
  figures: Float64Array;
  /** Lists of predecessors that are told anew, by the index of their item in `ids`. */
  lists: ReadonlyMap<number, Uint8Array>;
  deletes: string[];
  /** When some of the ratings in it were produced, ms: a sample, never none of many. */
  produced: Float64Array;
  /** Ratings that the shard has applied in all. */
  applied: number;
  /** Partitions of the sources from which the batch has ratings, and the last offset applied of each. */
  sources: string[];
  offsets: Float64Array;
}

export interface GramPart extends Version {
  side: Side;
  shard: number;
  factorCount: number;
  ratings: number;
  /** The sum of the known values. */
  values: number;
  /** Ratings that have counted so far: unlike those known, never fewer. */
  moves: number;
  /** The latest clock that the shard has counted by. */
  clock: number;
  /** The partial gram and, of users, the lessons. */
  sums: Uint8Array;
}

export interface PartVersion extends Version {
  side: Side;
  shard: number;
}

export interface GramsEvent {
  factorCount: number;
  user: Uint8Array;
  item: Uint8Array;
  ratings: number;
  values: number;
  clock: number;
  theta: Float64Array;
  /** What a next aggregator goes on from; empty in most. */
  learnt: Uint8Array;
  parts: PartVersion[];
}

interface Codec<T> {
  encode(event: T): Buffer;
  decode(bytes: Buffer): T;
}

type OnTheWire<T, Packed extends keyof T> = Omit<T, Packed> & Record<Packed, Buffer>;
type PackedBatch =
  | 'ids'
  | 'vectors'
  | 'figures'
  | 'lists'
  | 'deletes'
  | 'produced'
  | 'sources'
  | 'offsets';

const factorBatchType = new AvroType<OnTheWire<FactorBatch, PackedBatch>>('factor-batch.avsc');
const gramPartType = new AvroType<OnTheWire<GramPart, 'sums'>>('gram-part.avsc');
type PackedGrams = 'user' | 'item' | 'theta' | 'learnt' | 'parts';
const gramsType = new AvroType<OnTheWire<GramsEvent, PackedGrams>>('grams.avsc');

export const factorBatchCodec: Codec<FactorBatch> = {
  encode: (batch) =>
    factorBatchType.encode({
      ...batch,
      ids: packStrings(batch.ids),
      vectors: bytesOf(batch.vectors),
      figures: bytesOf(batch.figures),
      lists: packLists(batch.lists),
      deletes: packStrings(batch.deletes),
      produced: bytesOf(batch.produced),
      sources: packStrings(batch.sources),
      offsets: bytesOf(batch.offsets),
    }),
  decode: (bytes) => {
    const wire = factorBatchType.decode(bytes);
    return {
      ...wire,
      ids: unpackStrings(wire.ids),
      vectors: float32s(wire.vectors),
      figures: float64s(wire.figures),
      lists: unpackLists(wire.lists),
      deletes: unpackStrings(wire.deletes),
      produced: float64s(wire.produced),
      sources: unpackStrings(wire.sources),
      offsets: float64s(wire.offsets),
    };
  },
};

export const gramPartCodec: Codec<GramPart> = {
  encode: (part) => gramPartType.encode({ ...part, sums: Buffer.from(part.sums) }),
  decode: (bytes) => ({ ...gramPartType.decode(bytes) }),
};

const NUMBERS_PER_PART = 4;

export const gramsCodec: Codec<GramsEvent> = {
  encode: (grams) => {
    const parts = grams.parts.flatMap((part) => [
      sides.indexOf(part.side),
      part.shard,
      part.epoch,
      part.sequence,
    ]);
    return gramsType.encode({
      ...grams,
      user: Buffer.from(grams.user),
      item: Buffer.from(grams.item),
      theta: bytesOf(grams.theta),
      learnt: Buffer.from(grams.learnt),
      parts: bytesOf(Float64Array.from(parts)),
    });
  },
  decode: (bytes) => {
    const wire = gramsType.decode(bytes);
    const numbers = float64s(wire.parts);
    const parts: PartVersion[] = [];
    for (let at = 0; at < numbers.length; at += NUMBERS_PER_PART) {
      const [side = 0, shard = 0, epoch = 0, sequence = 0] = numbers.subarray(at);
      parts.push({ side: sides[side] ?? 'user', shard, epoch, sequence });
    }
    return { ...wire, theta: float64s(wire.theta), parts };
  },
};
