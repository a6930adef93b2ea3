/**
 * What does a user ask of all items, and how do items lie in the table that answers? The score is one inner
 * product, [θ₀(w − w̄) + θ₁w̄ ; θ₂ …] · [h ; counts], or w·h where the factors alone rank.
 */
import type { RankedTable, VectorTable } from '@freshet/kernels';
import {
  COUNT_FEATURES,
  FEATURES,
  type Grams,
  type ModelSettings,
  RankingQuery,
  WEIGHTS,
} from '@freshet/model';
import type { KnownUser } from './user-reader.ts';

export type RankingSettings = Pick<ModelSettings, 'factorCount' | 'ranking'>;
export type RankedFor = Pick<KnownUser, 'vector' | 'rated'>;

/**
 * Counts are about ten times as large as factors. An eighth of them in the table, with eight times their weight in
 * the query, gives the very same scores; but norms and sketches, by which a search skips items, then tell more.
 */
const COUNT_SCALE = 1 / 8;

/** w − w̄ and w̄ alike, and no counts: together w. */
const FACTORS_ALONE = Float64Array.from({ length: WEIGHTS }, (_, at) => Number(at % FEATURES < 2));

export function rankedColumns({ factorCount, ranking }: RankingSettings): number {
  return factorCount + (ranking === 'combined' ? COUNT_FEATURES : 0);
}

export class Ranking {
  readonly #settings: RankingSettings;
  readonly #grams: () => Grams;
  readonly #query: RankingQuery;

  constructor(settings: RankingSettings, grams: () => Grams) {
    this.#settings = settings;
    this.#grams = grams;
    this.#query = new RankingQuery(settings.factorCount);
  }

  /** What counts how much for this user; overwritten by the next call. */
  face({ vector, rated }: RankedFor): RankingQuery {
    const grams = this.#grams();
    const theta = this.#settings.ranking === 'combined' ? grams.theta : FACTORS_ALONE;
    const rowLength = vector === null ? 0 : rated.length;
    this.#query.face({ ...grams, theta }, vector ?? undefined, rowLength);
    return this.#query;
  }

  /** The query that a table of `rankedColumns` is searched with. */
  queryOf(user: RankedFor): Float32Array {
    const { vector, counts } = this.face(user);
    const query = new Float32Array(rankedColumns(this.#settings));
    query.set(vector);
    for (let at = vector.length; at < query.length; at++) {
      query[at] = (counts[at - vector.length] ?? 0) / COUNT_SCALE;
    }
    return query;
  }
}

/** The searched table as a replica writes to it: factors as they are, counts scaled. */
export class ScaledCounts implements VectorTable {
  readonly #table: RankedTable;
  readonly #scaled: Float32Array;
  readonly #firstCount: number;

  constructor(table: RankedTable, factorCount: number) {
    this.#table = table;
    this.#scaled = new Float32Array(table.factorCount);
    this.#firstCount = factorCount;
  }

  get factorCount(): number {
    return this.#table.factorCount;
  }

  get size(): number {
    return this.#table.size;
  }

  get slotEnd(): number {
    return this.#table.slotEnd;
  }

  get byteLength(): number {
    return this.#table.byteLength;
  }

  add(): number {
    return this.#table.add();
  }

  remove(slot: number): void {
    this.#table.remove(slot);
  }

  read(slot: number, out: Float32Array): void {
    this.#table.read(slot, out);
    for (let at = this.#firstCount; at < out.length; at++) out[at] = (out[at] ?? 0) / COUNT_SCALE;
  }

  write(slot: number, vector: Float32Array): void {
    const scaled = this.#scaled;
    scaled.set(vector);
    for (let at = this.#firstCount; at < scaled.length; at++) {
      scaled[at] = (scaled[at] ?? 0) * COUNT_SCALE;
    }
    this.#table.write(slot, scaled);
  }
}
