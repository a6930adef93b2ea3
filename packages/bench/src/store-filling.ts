/** Fills a store without the stream, by large commits. Positions stay at 0: the logs are empty. */
import assert from 'node:assert';
import { randomUUID } from 'node:crypto';
import { type Side, shardOf, sides } from '@freshet/events';
import { ShardSums } from '@freshet/model';
import { type BodyChange, type FactorStore, NO_FACTS, type StoredVector } from '@freshet/store';

export interface Entity {
  readonly id: string;
  readonly stored?: StoredVector;
  /** The row of a user, the evidence of an item. */
  readonly body?: Uint8Array;
}

interface FillingOptions {
  readonly factorCount: number;
  readonly shards: number;
  /** Ratings of 4 that each user counts as having given. */
  readonly ratingsOfUser?: number;
}

/** Below every epoch that a claim gives, so that an updater can take the shards over. */
export const EPOCH = 0;
const ENTITIES_PER_COMMIT = 2_000;

export class StoreFilling {
  readonly #store: FactorStore;
  readonly #options: FillingOptions;
  readonly #sums: Record<Side, readonly ShardSums[]>;

  private constructor(store: FactorStore, options: FillingOptions) {
    this.#store = store;
    this.#options = options;
    const { shards, factorCount } = options;
    const sums = (side: Side) =>
      Array.from({ length: shards }, () => ShardSums.zero(side, factorCount));
    this.#sums = { user: sums('user'), item: sums('item') };
  }

  static async begin(store: FactorStore, options: FillingOptions): Promise<StoreFilling> {
    for (const side of sides) {
      for (let shard = 0; shard < options.shards; shard++) {
        await store.takeOver({ side, shard }, EPOCH);
      }
    }
    return new StoreFilling(store, options);
  }

  /** Writes all shards at once, with one commit of each in flight. */
  async write(side: Side, entities: Iterable<Entity>): Promise<void> {
    const shards = this.#sums[side].map((sums, shard) => ({
      sums,
      id: { side, shard },
      batch: [] as Entity[],
      sending: Promise.resolve(),
    }));
    for (const entity of entities) {
      const shard = shards[shardOf(entity.id, shards.length)];
      assert(shard !== undefined, 'an id belongs to one of the shards');
      shard.batch.push(entity);
      if (shard.batch.length < ENTITIES_PER_COMMIT) continue;
      await shard.sending;
      shard.sending = this.#commit(shard);
      shard.batch = [];
    }
    await Promise.all(shards.map(({ sending }) => sending));
    await Promise.all(shards.map((shard) => this.#commit(shard)));
  }

  async #commit({ id, sums, batch }: Shard): Promise<void> {
    const vectors = new Map<string, StoredVector>();
    const bodies = new Map<string, BodyChange>();
    for (const { id: name, stored, body } of batch) {
      if (stored !== undefined) {
        vectors.set(name, stored);
        sums.gram.move(undefined, stored.vector);
      }
      if (body !== undefined) bodies.set(name, { bytes: body, isWhole: true });
    }
    const { ratingsOfUser = 0 } = this.#options;
    const ratings = id.side === 'user' ? ratingsOfUser * sums.gram.count : 0;
    const verdict = await this.#store.commit(id, {
      epoch: EPOCH,
      id: randomUUID(),
      from: 0,
      next: 0,
      vectors,
      removed: [],
      bodies,
      sums: sums.toBytes(),
      outbox: new Uint8Array(),
      facts: { ...NO_FACTS, epoch: EPOCH, sequence: 1, ratings, values: 4 * ratings, life: 0 },
    });
    assert(verdict.kind === 'written', `filling the store was ${verdict.kind}`);
  }
}

interface Shard {
  readonly id: { readonly side: Side; readonly shard: number };
  readonly sums: ShardSums;
  readonly batch: readonly Entity[];
}
