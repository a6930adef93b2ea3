/** A user of the model in memory as comparisons see one: a view that moves from rating to rating. */

import type { ComparedUser } from './comparison.ts';
import type { RowStore } from './row-store.ts';
import type { SideState } from './side-state.ts';

export class Rater implements ComparedUser {
  readonly row: RaterRow;
  vector: Float32Array | undefined;
  readonly #users: SideState;
  readonly #own: Float32Array;

  /** `own`: room for a vector. */
  constructor(users: SideState, rows: RowStore, own: Float32Array) {
    this.row = new RaterRow(rows);
    this.#users = users;
    this.#own = own;
  }

  /** The user in a slot, or somebody unknown. */
  face(slot: number | undefined): void {
    this.row.owner = slot;
    this.vector = slot === undefined ? undefined : this.#own;
    if (slot !== undefined) this.#users.vectors.read(slot, this.#own);
  }
}

class RaterRow {
  owner: number | undefined;
  readonly #rows: RowStore;

  constructor(rows: RowStore) {
    this.#rows = rows;
  }

  get length(): number {
    return this.owner === undefined ? 0 : this.#rows.length(this.owner);
  }

  slotFromEnd(age: number): number {
    return this.owner === undefined ? 0 : this.#rows.slotAt(this.owner, this.length - 1 - age);
  }

  isRated(slot: number): boolean {
    return this.owner !== undefined && this.#rows.find(this.owner, slot) >= 0;
  }
}
