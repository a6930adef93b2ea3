/**
 * Answers for one user: the vector and the row as the store has them now, scored against the
 * replica of the items. Somebody without ratings is answered by the mean of all users.
 */
import { type Recommendation, type ScoredItem, shardOf } from '@freshet/events';
import type { Kernels } from '@freshet/kernels';
import { type Grams, meanVector } from '@freshet/model';
import type { Replica } from '@freshet/session';
import { decodeRow, type FactorStore } from '@freshet/store';

export interface RecommenderOptions {
  readonly model: string;
  readonly partitions: number;
  readonly factorCount: number;
  readonly kernels: Kernels;
  readonly store: FactorStore;
  readonly items: Replica;
  readonly grams: () => Grams;
}

export class Recommender {
  readonly #options: RecommenderOptions;

  constructor(options: RecommenderOptions) {
    this.#options = options;
  }

  async recommend(user: string, n: number): Promise<Recommendation> {
    const { store, partitions, model, factorCount, grams } = this.#options;
    const shard = shardOf(user, partitions);
    const { vector, row, position } = await store.entity({ side: 'user', shard }, user);
    const rated = row === null ? [] : [...decodeRow(row).values()];
    const known = vector !== null && vector.length > 0;
    const query = known ? vector : new Float32Array(factorCount);
    if (!known) meanVector('user', grams(), query);
    const skip = rated.filter(({ value }) => value !== null).map(({ neighbour }) => neighbour);
    return {
      user,
      items: this.#best(query, n, skip),
      model: { name: model, position },
      fallback: known ? null : 'mean',
    };
  }

  #best(query: Float32Array, n: number, rated: readonly string[]): ScoredItem[] {
    const { items, kernels } = this.#options;
    const skip = items.absentees();
    for (const id of rated) {
      const slot = items.slotOf(id);
      if (slot !== undefined) skip[slot] = 1;
    }
    const best = { length: 0, slots: new Uint32Array(n), scores: new Float32Array(n) };
    kernels.topN(query, items.table, skip, best);
    return Array.from({ length: best.length }, (_, at) => ({
      item: items.idAt(best.slots[at] ?? 0),
      score: best.scores[at] ?? 0,
    }));
  }
}
