/** Moves vectors while a scorer is measured, as updaters would: else caches could answer it all. */
import assert from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';
import { type FactorBatch, factorBatchCodec, type Side, sides, topicName } from '@freshet/events';
import { Random } from '@freshet/model';
import type { StoredVector } from '@freshet/store';
import { Publisher } from '@freshet/stream';
import type { BenchSystem } from '../pipeline/bench-system.ts';
import { type Entity, EPOCH } from '../store-filling.ts';

/** Of each side, as many as this number of ratings per second would move. */
export const MOVES_PER_SECOND = 100;
const BATCH = 5;
const SEED = 8;

export interface MovedEntity extends Entity {
  readonly stored: StoredVector;
}

/** Of each side, by shard. */
type Moved = Readonly<Record<Side, readonly (readonly MovedEntity[])[]>>;

export class MovingModel {
  readonly #random = new Random(SEED);
  #stopped = false;
  #running: Promise<void> = Promise.resolve();

  private constructor(
    private readonly system: BenchSystem,
    private readonly publisher: Publisher,
    private readonly entities: Moved,
  ) {}

  /** `entities` are those that the store was filled with. */
  static async start(system: BenchSystem, entities: Moved): Promise<MovingModel> {
    const model = new MovingModel(system, await Publisher.open(system.session.kafka), entities);
    model.#running = model.#run();
    return model;
  }

  async close(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    await this.publisher.close();
  }

  async #run(): Promise<void> {
    const pauseMs = (1_000 * BATCH) / MOVES_PER_SECOND;
    for (let turn = 0; !this.#stopped; turn++) {
      for (const side of sides) await this.#move(side, turn % this.system.settings.SHARDS);
      await pause(pauseMs);
    }
  }

  async #move(side: Side, shard: number): Promise<void> {
    const { store, model } = this.system.session;
    const { position: from, facts, sums } = await store.inspect({ side, shard });
    assert(from !== null && sums !== null, 'the shard was filled');
    const sequence = facts.sequence + 1;
    const batch = this.#batch(side, shard, from, sequence);
    const k = batch.factorCount;
    const ofEach = batch.figures.length / batch.ids.length;
    const vectors = new Map(
      batch.ids.map((id, nth) => {
        const vector = batch.vectors.slice(nth * k, (nth + 1) * k);
        return [id, { vector, figures: batch.figures.slice(nth * ofEach, (nth + 1) * ofEach) }];
      }),
    );
    await store.commit(
      { side, shard },
      {
        epoch: EPOCH,
        id: `move ${from}`,
        from,
        next: from + 1,
        vectors,
        removed: [],
        bodies: new Map(),
        // The gram stays: vectors move by too little to matter.
        sums,
        outbox: new Uint8Array(),
        facts: { ...facts, epoch: EPOCH, sequence },
      },
    );
    const topic = topicName(`${side}Factors`, model);
    const value = factorBatchCodec.encode(batch);
    await this.publisher.publish([{ topic, partition: shard, key: String(shard), value }]);
  }

  /** A few entities of the shard, with every factor changed by up to 1 %. */
  #batch(side: Side, shard: number, from: number, sequence: number): FactorBatch {
    const all = this.entities[side][shard] ?? [];
    const moved = Array.from({ length: BATCH }, () => all[this.#random.below(all.length)]);
    const chosen = [...new Set(moved)].filter((each) => each !== undefined);
    const near = (factor: number) => factor * (1 + 0.02 * (this.#random.next() - 0.5));
    return {
      side,
      shard,
      epoch: EPOCH,
      sequence,
      from,
      next: from + 1,
      factorCount: this.system.settings.FACTOR_COUNT,
      ids: chosen.map(({ id }) => id),
      vectors: Float32Array.from(chosen.flatMap(({ stored }) => Array.from(stored.vector, near))),
      figures: Float64Array.from(chosen.flatMap(({ stored }) => [...stored.figures])),
      lists: new Map(),
      deletes: [],
      produced: Float64Array.of(Date.now()),
      applied: from,
      sources: [],
      offsets: new Float64Array(),
    };
  }
}
