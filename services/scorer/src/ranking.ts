/**
 * The query of a user, and the columns of the table that it is searched in. A score is one inner
 * product, [θ₀(w − w̄) + θ₁w̄ ; θ₂ …] · [h ; counts], or w·h if the factors alone rank, plus a
 * raise for items that were often rated after the user's last items.
 */
import {
  COUNT_FEATURES,
  FEATURES,
  type Grams,
  type ModelSettings,
  RankingQuery,
  type RankingRequest,
  WEIGHTS,
} from '@freshet/model';
import type { KnownUser } from './user-reader.ts';

export type RankingSettings = Pick<ModelSettings, 'factorCount' | 'ranking'>;
export type RankedFor = Pick<KnownUser, 'vector' | 'rated'>;

/** θ of w·h alone: 1 for w − w̄ and for w̄, 0 for the counts. */
const FACTORS_ALONE = Float64Array.from({ length: WEIGHTS }, (_, at) => Number(at % FEATURES < 2));

export function rankedColumns({ factorCount, ranking }: RankingSettings): number {
  return factorCount + (ranking === 'combined' ? COUNT_FEATURES : 0);
}

/** So many queries share one allocation: each request makes a query. */
const QUERIES_OF_ARRAY = 64;

export class Ranking {
  readonly #settings: RankingSettings;
  readonly #grams: () => Grams;
  readonly #query: RankingQuery;
  #queries = new Float32Array();
  /** Where the rest of `queries`, which is free, begins. */
  #free = 0;

  constructor(settings: RankingSettings, grams: () => Grams) {
    this.#settings = settings;
    this.#grams = grams;
    this.#query = new RankingQuery(settings.factorCount);
  }

  /** The weights for a user. The next call overwrites the result. */
  face({ vector, rated }: RankedFor): RankingQuery {
    const latest = this.#grams();
    const isCombined = this.#settings.ranking === 'combined';
    const grams = isCombined ? latest : { ...latest, theta: FACTORS_ALONE };
    const rowLength = vector === null ? 0 : rated.length;
    this.#query.prepare(grams, vector ?? undefined, rowLength);
    return this.#query;
  }

  /** The query for a table of `rankedColumns`. */
  queryOf(user: RankedFor): Required<RankingRequest> {
    const { vector, counts, next: weight } = this.face(user);
    const query = this.#take(rankedColumns(this.#settings));
    for (let f = 0; f < vector.length; f++) query[f] = vector[f] as number;
    for (let f = vector.length, c = 0; f < query.length; f++, c++) query[f] = counts[c] as number;
    return { vector: query, next: { weight, recent: user.rated } };
  }

  #take(columns: number): Float32Array {
    if (this.#free + columns > this.#queries.length) {
      this.#queries = new Float32Array(QUERIES_OF_ARRAY * columns);
      this.#free = 0;
    }
    this.#free += columns;
    return this.#queries.subarray(this.#free - columns, this.#free);
  }
}
