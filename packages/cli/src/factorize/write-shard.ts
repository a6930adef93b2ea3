/**
 * Replaces the vectors of a shard, in slices small enough not to block the store. Rows, sources and
 * position stay as they are, and after each slice the gram is the sum over the stored vectors. The
 * last slice sends a factor batch that continues no other, so that replicas load the shard again.
 */
import { randomUUID } from 'node:crypto';
import { type FactorBatch, factorBatchCodec, topicName } from '@freshet/events';
import { type Gram, ShardSums, weightIn } from '@freshet/model';
import type {
  BodyChange,
  Commit,
  FactorStore,
  ShardFacts,
  ShardId,
  ShardState,
  StoredVector,
} from '@freshet/store';
import { encodeOutbox, internalRecord, type OutRecord } from '@freshet/stream';
import { CannotWork } from '../operator-command.ts';

export interface LearntEntity {
  readonly id: string;
  /** What the store holds; undefined if nothing. */
  readonly before: StoredVector | undefined;
  readonly after: StoredVector;
  /** The evidence of an item; the row of a user stays. */
  readonly body?: Uint8Array;
}

interface ShardWrite {
  readonly model: string;
  readonly id: ShardId;
  readonly epoch: number;
  readonly factorCount: number;
  /** As it was taken over. */
  readonly state: ShardState;
  /** The clock of the counts of items; 0 for users. */
  readonly clock: number;
  /** Items that the store holds and no user has rated any more. */
  readonly removed: ReadonlyMap<string, StoredVector>;
}

/** The store needs about 5 ms for a slice of this size. */
const limits = { entities: 1_000, bodyBytes: 1 << 20 } as const;

/** Returns the record that must be published, so that replicas follow. */
export async function writeShard(
  store: Pick<FactorStore, 'commit'>,
  write: ShardWrite,
  entities: Iterable<LearntEntity>,
): Promise<OutRecord> {
  const { id, factorCount, state } = write;
  const { side } = id;
  const stored = state.sums ? ShardSums.fromBytes(side, state.sums, factorCount) : undefined;
  const moving = stored ?? ShardSums.zero(side, factorCount);
  // Summed from the vectors alone, so that rounding errors of the stored gram go. The lessons stay.
  const whole = ShardSums.zero(side, factorCount);
  if (stored?.lessons) whole.lessons?.include(stored.lessons);
  let facts = { ...state.facts, clock: Math.max(state.facts.clock, write.clock) };
  let slice = new Slice([...write.removed.keys()]);
  for (const removed of write.removed.values()) move(moving.gram, removed, undefined);
  const commit = async (sums: ShardSums, outbox: readonly OutRecord[]): Promise<void> => {
    facts = { ...facts, epoch: write.epoch, sequence: facts.sequence + 1, factorized: at(state) };
    const verdict = await store.commit(id, commitOf(write, slice, facts, sums, outbox));
    if (verdict.kind !== 'written') {
      throw new CannotWork(
        `${id.side} shard ${id.shard} was taken over by another process (${verdict.kind}): an updater was started meanwhile. Some vectors are learnt anew and others are not: stop the updaters and run freshet factorize again`,
      );
    }
    slice = new Slice();
  };
  for (const entity of entities) {
    if (slice.isFull) await commit(moving, []);
    slice.add(entity);
    move(moving.gram, entity.before, entity.after);
    move(whole.gram, undefined, entity.after);
  }
  const reload = reloadOf(write, { ...facts, sequence: facts.sequence + 1, epoch: write.epoch });
  await commit(whole, [reload]);
  return reload;
}

function move(gram: Gram, before: StoredVector | undefined, after: StoredVector | undefined): void {
  const weightOf = (stored: StoredVector | undefined) => (stored ? weightIn(stored.figures) : 1);
  const weights = { before: weightOf(before), after: weightOf(after) };
  gram.move(present(before?.vector), present(after?.vector), weights);
}

function commitOf(
  { epoch, state }: ShardWrite,
  { vectors, removed, bodies }: Slice,
  facts: ShardFacts,
  sums: ShardSums,
  outbox: readonly OutRecord[],
): Commit {
  const position = at(state);
  return {
    epoch,
    id: randomUUID(),
    from: position,
    next: position,
    vectors,
    removed,
    bodies,
    sums: sums.toBytes(),
    outbox: encodeOutbox([...outbox]),
    facts,
  };
}

/** `from` is above `next`, which no reader ever has as its position. */
function reloadOf({ model, id, factorCount, state }: ShardWrite, facts: ShardFacts): OutRecord {
  const position = at(state);
  const applied = Object.values(facts.sources).reduce((sum, mark) => sum + mark.applied.count, 0);
  const event: FactorBatch = {
    ...id,
    epoch: facts.epoch,
    sequence: facts.sequence,
    from: position + 1,
    next: position,
    factorCount,
    ids: [],
    vectors: new Float32Array(),
    figures: new Float64Array(),
    lists: new Map(),
    deletes: [],
    produced: new Float64Array(),
    applied,
    sources: [],
    offsets: new Float64Array(),
  };
  return internalRecord({
    topic: topicName(`${id.side}Factors`, model),
    partition: id.shard,
    key: `${id.side}:${id.shard}`,
    value: factorBatchCodec.encode(event),
  });
}

function at({ position }: ShardState): number {
  return position ?? 0;
}

/** A vector has no factors if every rating was taken back; then it is not part of the gram. */
function present(vector: Float32Array | undefined): Float32Array | undefined {
  return vector !== undefined && vector.length > 0 ? vector : undefined;
}

class Slice {
  readonly vectors = new Map<string, StoredVector>();
  readonly bodies = new Map<string, BodyChange>();
  #bodyBytes = 0;

  constructor(readonly removed: readonly string[] = []) {}

  get isFull(): boolean {
    return this.vectors.size >= limits.entities || this.#bodyBytes >= limits.bodyBytes;
  }

  add({ id, after, body }: LearntEntity): void {
    this.vectors.set(id, after);
    if (body === undefined) return;
    this.bodies.set(id, { bytes: body, isWhole: true });
    this.#bodyBytes += body.length;
  }
}
