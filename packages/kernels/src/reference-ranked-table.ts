/** The reference implementation of the ranked table: every search computes every score. */

import type { RankedTable, Search } from './kernels.ts';
import { checkLength, ReferenceTable } from './reference-table.ts';
import { type Raises, raisedScore } from './weighted-lists.ts';

export class ReferenceRankedTable extends ReferenceTable implements RankedTable {
  readonly #hidden = new Set<number>();

  override add(): number {
    const slot = super.add();
    this.#hidden.delete(slot);
    return slot;
  }

  hide(slot: number, hidden: boolean): void {
    if (hidden) this.#hidden.add(slot);
    else this.#hidden.delete(slot);
  }

  isHidden(slot: number): boolean {
    return this.#hidden.has(slot);
  }

  rebase(): boolean {
    return false;
  }

  migrate(): boolean {
    return true;
  }

  scoresOf(
    query: Float32Array,
    slots: ArrayLike<number>,
    out: Float32Array,
    raises?: Raises,
  ): void {
    for (let e = 0; e < slots.length; e++) out[e] = this.#score(query, slots[e], raises);
  }

  search(search: Search): void {
    const { query, excluded, best, raises } = search;
    const left = new Set(Array.from(excluded));
    const ranking = this.#scored(query, raises).filter(({ slot }) => !left.has(slot));
    ranking.sort((a, b) => b.score - a.score);
    best.length = Math.min(ranking.length, best.slots.length);
    for (let at = 0; at < best.length; at++) {
      best.slots[at] = ranking[at].slot;
      best.scores[at] = ranking[at].score;
    }
    search.tied = best.length > 0 && ranking[best.length]?.score === best.scores[best.length - 1];
  }

  slotsScoring(query: Float32Array, score: number): number[] {
    const equal = this.#scored(query).filter((each) => each.score === score);
    return equal.map(({ slot }) => slot);
  }

  #scored(query: Float32Array, raises?: Raises): { slot: number; score: number }[] {
    checkLength(query.length, this.factorCount);
    const removed = new Set(this.removed);
    const found: { slot: number; score: number }[] = [];
    for (let slot = 0; slot < this.slotEnd; slot++) {
      if (removed.has(slot) || this.#hidden.has(slot)) continue;
      found.push({ slot, score: this.#score(query, slot, raises) });
    }
    return found;
  }

  #score(query: Float32Array, slot: number, raises?: Raises): number {
    const k = this.factorCount;
    let score = 0;
    for (let f = 0; f < k; f++) score += query[f] * this.data[slot * k + f];
    return raises ? raisedScore(Math.fround(score), slot, raises) : Math.fround(score);
  }
}
