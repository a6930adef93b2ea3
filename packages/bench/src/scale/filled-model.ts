/**
 * A model of many users in the store as the stream would have left it, written by large commits that no record
 * stands behind: positions stay at 0, as the logs are empty.
 */
import { randomUUID } from 'node:crypto';
import { type Side, shardOf } from '@freshet/events';
import {
  Evidence,
  figuresOf,
  type ModelSettings,
  NO_STATISTICS,
  Random,
  ShardSums,
} from '@freshet/model';
import {
  type BodyChange,
  encodeRow,
  type FactorStore,
  NO_FACTS,
  type StoredVector,
} from '@freshet/store';

export const ITEMS = 100_000;
export const ROW_LENGTH = 5;
const ENTITIES_PER_COMMIT = 2_000;
/** Below every epoch that a claim gives. */
const EPOCH = 0;
const SEED = 13;
/** So many vectors and so much evidence, used again and again: only their sizes matter. */
const VARIETY = 64;
/** More than an item keeps as single pairs. */
const RATINGS_OF_ITEM = 40;
/** Spread a user's ratings over the items. */
const STRIDES = [7_919, 104_729] as const;
const TIME = 1_700_000_000_000;

interface Entity {
  readonly id: string;
  readonly stored?: StoredVector;
  readonly body?: Uint8Array;
}

export const userId = (nth: number) => `u${nth}`;
export const itemId = (nth: number) => `i${nth % ITEMS}`;

const NO_FIGURES = new Float64Array();
const FIGURES = figuresOf(1, { ...NO_STATISTICS, count: RATINGS_OF_ITEM });

export class FilledModel {
  readonly #store: FactorStore;
  readonly #settings: ModelSettings;
  readonly #shards: number;
  readonly #random = new Random(SEED);
  readonly #vectors: readonly StoredVector[];
  readonly #sums: Record<Side, ShardSums[]>;

  constructor(store: FactorStore, settings: ModelSettings, shards: number) {
    const { factorCount } = settings;
    this.#store = store;
    this.#settings = settings;
    this.#shards = shards;
    this.#vectors = Array.from({ length: VARIETY }, () => {
      const factor = () => 0.2 * this.#random.next();
      return { vector: Float32Array.from({ length: factorCount }, factor), figures: NO_FIGURES };
    });
    const sums = (side: Side) =>
      Array.from({ length: shards }, () => ShardSums.zero(side, factorCount));
    this.#sums = { user: sums('user'), item: sums('item') };
  }

  async takeOver(): Promise<void> {
    for (const side of ['user', 'item'] as const) {
      for (let shard = 0; shard < this.#shards; shard++) {
        await this.#store.takeOver({ side, shard }, EPOCH);
      }
    }
  }

  async writeUsers(count: number): Promise<void> {
    await this.#write('user', count, (nth) => ({ id: userId(nth), stored: this.#vector(nth) }));
  }

  async writeRows(count: number): Promise<void> {
    const [near, far] = STRIDES;
    await this.#write('user', count, (nth) => {
      const entries = Array.from({ length: ROW_LENGTH }, (_, at) => {
        return { neighbour: itemId(near * nth + far * at), value: 4, time: TIME + at };
      });
      return { id: userId(nth), body: encodeRow(entries) };
    });
  }

  async writeItems(): Promise<void> {
    const bodies = this.#vectors.map((_, first) => this.#evidence(first));
    await this.#write('item', ITEMS, (nth) => {
      const body = bodies[nth % VARIETY] ?? new Uint8Array();
      return { id: itemId(nth), stored: { ...this.#vector(nth), figures: FIGURES }, body };
    });
  }

  #vector(nth: number): StoredVector {
    return this.#vectors[nth % VARIETY] ?? { vector: new Float32Array(), figures: NO_FIGURES };
  }

  #evidence(first: number): Uint8Array {
    const evidence = Evidence.empty(this.#settings);
    for (let nth = 0; nth < RATINGS_OF_ITEM; nth++) {
      const { vector } = this.#vector(first + nth);
      evidence.apply({ value: 4, old: null, vector }, nth);
    }
    return evidence.toBytes();
  }

  /** All shards at once, one commit of each on its way. */
  async #write(side: Side, count: number, entityOf: (nth: number) => Entity): Promise<void> {
    const pending = Array.from({ length: this.#shards }, (): Entity[] => []);
    const sending: Promise<void>[] = pending.map(() => Promise.resolve());
    for (let nth = 0; nth < count; nth++) {
      const entity = entityOf(nth);
      const shard = shardOf(entity.id, this.#shards);
      const batch = pending[shard] ?? [];
      batch.push(entity);
      if (batch.length < ENTITIES_PER_COMMIT) continue;
      await sending[shard];
      sending[shard] = this.#commit(side, shard, batch);
      pending[shard] = [];
    }
    await Promise.all(sending);
    await Promise.all(pending.map((batch, shard) => this.#commit(side, shard, batch)));
  }

  async #commit(side: Side, shard: number, batch: readonly Entity[]): Promise<void> {
    const sums = this.#sums[side][shard] ?? ShardSums.zero(side, this.#settings.factorCount);
    const vectors = new Map<string, StoredVector>();
    const bodies = new Map<string, BodyChange>();
    for (const { id, stored, body } of batch) {
      if (stored !== undefined) {
        vectors.set(id, stored);
        sums.gram.move(undefined, stored.vector);
      }
      if (body !== undefined) bodies.set(id, { bytes: body, isWhole: true });
    }
    const ratings = side === 'user' ? ROW_LENGTH * sums.gram.count : 0;
    const verdict = await this.#store.commit(
      { side, shard },
      {
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
      },
    );
    if (verdict.kind !== 'written') throw new Error(`filling was ${verdict.kind}`);
  }
}
