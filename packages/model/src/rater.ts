/** A user of the model in memory as comparisons see one: a view that moves from rating to rating. */

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

  /** `own`: room for a vector. */
  constructor(users: SideState, items: SideState, rows: RowStore, own: Float32Array) {
    this.row = new RaterRow(items, rows);
    this.#users = users;
    this.#own = own;
  }

  /** The user in a slot, or somebody unknown. */
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
  /** By slot of an item: `#mark` if it is in the row. One walk along the row answers for every item. */
  #marks = new Uint32Array(64);
  /** Another with each user, so that nothing must be cleared. */
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

  /** As it was when the user was faced. */
  isRated(slot: number): boolean {
    return this.#marks[slot] === this.#mark;
  }
}
