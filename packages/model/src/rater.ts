/** The user of the current rating, as comparisons see her. One object is reused for all ratings. */

import type { ComparedUser } from './comparison.ts';
import type { RowStore } from './row-store.ts';
import type { SideState } from './side-state.ts';

/** The largest that fits in 32 bits. */
const LAST_MARK = 2 ** 32 - 1;

export class Rater implements ComparedUser {
  readonly row: RaterRow;
  vector: Float32Array | undefined;
  readonly #users: SideState;
  readonly #own: Float32Array;

  /** `own` is scratch memory for the user's vector. */
  constructor(users: SideState, items: SideState, rows: RowStore, own: Float32Array) {
    this.row = new RaterRow(items, rows);
    this.#users = users;
    this.#own = own;
  }

  /** Selects the user in a slot; undefined stands for an unknown user. */
  setUser(slot: number | undefined): void {
    this.row.setUser(slot);
    this.vector = slot === undefined ? undefined : this.#own;
    if (slot !== undefined) this.#users.vectors.read(slot, this.#own);
  }
}

class RaterRow {
  readonly #items: SideState;
  readonly #rows: RowStore;
  #owner: number | undefined;
  /** By slot of an item: `#mark` if the item is in the row. Marking takes one pass over the row. */
  #marks = new Uint32Array(64);
  /** A new number for each user, so that old marks need not be cleared. */
  #mark = 0;

  constructor(items: SideState, rows: RowStore) {
    this.#items = items;
    this.#rows = rows;
  }

  setUser(owner: number | undefined): void {
    this.#owner = owner;
    const { slotEnd } = this.#items;
    if (slotEnd > this.#marks.length || this.#mark === LAST_MARK) {
      this.#marks = new Uint32Array(2 * slotEnd);
      this.#mark = 0;
    }
    this.#mark++;
    if (owner !== undefined) this.#rows.mark(owner, this.#marks, this.#mark);
  }

  get length(): number {
    return this.#owner === undefined ? 0 : this.#rows.length(this.#owner);
  }

  slotFromEnd(age: number): number {
    return this.#owner === undefined ? 0 : this.#rows.slotAt(this.#owner, this.length - 1 - age);
  }

  /** Whether the item was in the row when the user was selected. */
  isRated(slot: number): boolean {
    return this.#marks[slot] === this.#mark;
  }
}
