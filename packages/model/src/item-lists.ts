/** The predecessor lists of an in-memory model: the current ones and the published copies. */

import type { Kernels } from '@freshet/kernels';
import { enlarged } from './enlarged.ts';
import type { FeatureTable } from './feature-table.ts';
import type { KeyedItems, NextContext } from './next-context.ts';
import { type ListFollower, PredecessorTable } from './predecessor-table.ts';
import { COUNTED_BEFORE, isDue, itemKey, Predecessors } from './predecessors.ts';
import type { RowStore } from './row-store.ts';
import type { SideState } from './side-state.ts';
import { Successors } from './successors.ts';

export class ItemLists implements KeyedItems {
  readonly #successors: Successors;
  /** Items whose published list is not yet in `#successors`; they are added at the next query. */
  readonly #unturned = new Set<number>();
  readonly #told = new PredecessorTable();
  /**
   * Receives every published list. In the live system lists travel through Kafka and arrive late;
   * to measure what that costs, replace this by a follower that delays them.
   */
  follower: ListFollower = {
    set: (owner, list, ratings) => {
      this.#told.set(owner, list, ratings);
      this.#unturned.add(owner);
    },
    remove: (owner) => {
      this.#told.remove(owner);
      this.#unturned.add(owner);
    },
  };
  readonly #lists: (Predecessors | undefined)[] = [];
  /** 0 if the key was not computed yet. */
  #keys = new Uint32Array(64);
  readonly #items: Pick<SideState, 'idOf'>;
  readonly #features: Pick<FeatureTable, 'countAt'>;

  constructor(
    kernels: Kernels,
    items: Pick<SideState, 'idOf'>,
    features: Pick<FeatureTable, 'countAt'>,
  ) {
    this.#successors = new Successors(kernels);
    this.#items = items;
    this.#features = features;
  }

  /** The published lists, inverted. */
  get successors(): Successors {
    for (const slot of this.#unturned) this.#successors.setScaled(slot, this.#told.listAt(slot), 1);
    this.#unturned.clear();
    return this.#successors;
  }

  keyAt(slot: number): number {
    if (slot >= this.#keys.length) this.#keys = enlarged(this.#keys, 2 * slot);
    this.#keys[slot] ||= itemKey(this.#items.idOf(slot) as string);
    return this.#keys[slot];
  }

  countAt(slot: number): number {
    return this.#features.countAt(slot);
  }

  nextSumAt(slot: number, context: NextContext): number {
    return this.#told.sumAt(slot, context);
  }

  of(slot: number): Predecessors {
    const list = this.#lists[slot] ?? Predecessors.empty();
    this.#lists[slot] = list;
    return list;
  }

  /** Keys of the items before position `end` of a row, newest first; `user` is unused at 0. */
  before(rows: RowStore, user: number, end: number): readonly number[] {
    const keys: number[] = [];
    for (let at = end - 1; at >= Math.max(0, end - COUNTED_BEFORE); at--) {
      keys.push(this.keyAt(rows.slotAt(user, at)));
    }
    return keys;
  }

  /** To be called after the rating was counted in the item's statistics. */
  count(slot: number, before: readonly number[]): void {
    const list = this.of(slot);
    list.count(before);
    const ratings = this.countAt(slot);
    if (isDue(ratings)) this.follower.set(slot, list, ratings);
  }

  takeBack(slot: number, before: readonly number[]): void {
    const list = this.of(slot);
    list.takeBack(before);
    this.follower.set(slot, list, this.countAt(slot));
  }

  forget(slot: number): void {
    this.#lists[slot] = undefined;
    this.#keys[slot] = 0;
    this.follower.remove(slot);
  }
}

/** The part of the lists that comparisons need; all zeros if the model has no lists. */
export function askedOf(lists: ItemLists | undefined): typeof NO_LISTS {
  if (lists === undefined) return NO_LISTS;
  return {
    keyAt: (slot) => lists.keyAt(slot),
    countAt: (slot) => lists.countAt(slot),
    nextSumAt: (slot, context) => lists.nextSumAt(slot, context),
  };
}

/** For models without lists. */
export const NO_LISTS: KeyedItems & Pick<ItemLists, 'nextSumAt'> = {
  keyAt: () => 0,
  countAt: () => 0,
  nextSumAt: () => 0,
};
