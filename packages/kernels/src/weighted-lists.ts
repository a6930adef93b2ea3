/**
 * The contract of weighted lists of slots: the kernels add up the weights of a few lists, and the
 * sums raise the scores of a search.
 */

/**
 * Room for lists of (number, weight). A number holds a slot in its lower 24 bits and a stamp in the
 * others. Read the arrays anew for each use: when a table grows, earlier views become empty.
 */
export interface ListPage {
  readonly numbers: Uint32Array;
  readonly weights: Float32Array;
}

/** For each of a few slots, the sum of its weights in several lists. */
export interface SlotSums {
  /** How many slots have a sum. */
  readonly length: number;
  readonly byteLength: number;
  /** The slots that have a sum, each once; `nth` is below `length`. */
  slotAt(nth: number): number;
  /** 0 if the slot has none. */
  sumOf(slot: number): number;
  /** Entries of a list whose stamp is not that of their slot do not count. */
  stampOf(slot: number): number;
  setStamp(slot: number, stamp: number): void;
  /** Makes room for slots below `slotEnd`, whose stamps are 0. May forget all sums. */
  reserve(slotEnd: number): void;
  /** Forgets all sums. */
  clear(): void;
}

/** Adds weight · ln(1 + sum) to the scores of the slots that have a sum. Nothing is negative. */
export interface Raises {
  readonly weight: number;
  readonly sums: SlotSums;
}

/** A score with the raise of its slot. */
export function raisedScore(score: number, slot: number, { weight, sums }: Raises): number {
  const sum = sums.sumOf(slot);
  return sum > 0 ? Math.fround(score + weight * Math.log1p(sum)) : score;
}
