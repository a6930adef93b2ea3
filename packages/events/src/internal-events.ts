/** The events that Freshet's services send each other, with their encoding. */
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

/** Orders the states of one shard: by epoch, then by sequence. */
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
  /** The numbers that are kept with each vector: six for an item, none for a user. */
  figures: Float64Array;
  /** Lists of predecessors that changed, by the index of their item in `ids`. */
  lists: ReadonlyMap<number, Uint8Array>;
  deletes: string[];
  /** A sample of the production times, in ms; at least one if the batch is not empty. */
  produced: Float64Array;
  /** How many ratings the shard has applied since its beginning. */
  applied: number;
  /** The source partitions of its ratings, and the last offset applied of each. */
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
  /** How many ratings have been applied. Unlike `ratings`, those known now, this never falls. */
  moves: number;
  /** The latest clock that the shard has used. */
  clock: number;
  /** The partial gram, and on the user side the lessons. */
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
  /** The state from which the next aggregator continues; empty in most records. */
  learnt: Uint8Array;
  parts: PartVersion[];
}

interface EventCodec<T> {
  encode(event: T): Buffer;
  decode(bytes: Buffer): T;
}

/** Everything but single numbers and names is packed. */
type OnTheWire<T> = { [K in keyof T]: T[K] extends number | string ? T[K] : Buffer };

const factorBatchType = new AvroType<OnTheWire<FactorBatch>>('factor-batch.avsc');
const gramPartType = new AvroType<OnTheWire<GramPart>>('gram-part.avsc');
const gramsType = new AvroType<OnTheWire<GramsEvent>>('grams.avsc');

export const factorBatchCodec: EventCodec<FactorBatch> = {
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

export const gramPartCodec: EventCodec<GramPart> = {
  encode: (part) => gramPartType.encode({ ...part, sums: Buffer.from(part.sums) }),
  decode: (bytes) => ({ ...gramPartType.decode(bytes) }),
};

const NUMBERS_PER_PART = 4;

export const gramsCodec: EventCodec<GramsEvent> = {
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
      parts.push(partOf(numbers.subarray(at, at + NUMBERS_PER_PART)));
    }
    return { ...wire, theta: float64s(wire.theta), parts };
  },
};

function partOf([sideAt = -1, shard, epoch, sequence]: Float64Array): PartVersion {
  const side = sides[sideAt];
  if (side === undefined || shard === undefined || epoch === undefined || sequence === undefined) {
    throw new RangeError('a part has an unknown side or is cut off');
  }
  return { side, shard, epoch, sequence };
}
