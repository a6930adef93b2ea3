/** A replica that also holds what came before each item: by these lists, user shards compare items. */
import type { Kernels } from '@freshet/kernels';
import { type NextContext, PredecessorTable } from '@freshet/model';
import { Replica, type ReplicaOptions } from './replica.ts';

export class ListedReplica extends Replica {
  readonly #predecessors: PredecessorTable;

  constructor(
    kernels: Kernels,
    factorCount: number,
    shards: number,
    options: Omit<ReplicaOptions, 'lists'> = {},
  ) {
    const predecessors = new PredecessorTable();
    super(kernels, factorCount, shards, { ...options, lists: predecessors });
    this.#predecessors = predecessors;
  }

  /** P/.04 of an item. */
  nextSumAt(slot: number, context: NextContext): number {
    return this.#predecessors.sumAt(slot, context);
  }
}
