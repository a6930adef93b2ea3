/**
 * What can be computed over vectors: the contract that both the TypeScript reference and the
 * WebAssembly implementation fulfil. The kernels only know numbers, not what a rating or a loss is.
 */

import type { ListPage, Raises, SlotSums } from './weighted-lists.ts';

/** The longest vector that the kernels accept: the scratch memory of a descent has this width. */
export const MAX_FACTOR_COUNT = 256;

/** The vectors of all users or of all items, k floats each, addressed by slot. */
export interface VectorTable {
  readonly factorCount: number;
  /** Slots in use. */
  readonly size: number;
  /** One past the highest slot: arrays that are indexed by slot need this length. */
  readonly slotEnd: number;
  /** Bytes reserved for vectors, padding and unused slots included. */
  readonly byteLength: number;
  /** Returns a slot whose vector is zero; removed slots are reused. */
  add(): number;
  remove(slot: number): void;
  read(slot: number, out: Float32Array): void;
  write(slot: number, vector: Float32Array): void;
}

/** A symmetric k×k matrix in the memory of kernels. They use it in place, and copy all others. */
export interface Matrix {
  /** Row-major. Read it anew for each use: when a table grows, an earlier view becomes empty. */
  readonly cells: Float64Array;
}

/** Ratings of one user or one item; only the first `length` entries are valid. */
export interface WeightedRow {
  length: number;
  /** The slot of the rated item's vector, or of the user's if this is the row of an item. */
  readonly slots: Uint32Array;
  readonly values: Float32Array;
  /** ω, the weight of each rating relative to the others of the row (1 in the paper). */
  readonly weights: Float32Array;
  /** c, how many ratings of the full row each entry represents: 1 unless the row is a sample. */
  readonly copies: Float32Array;
}

/**
 * A row in the memory of kernels. They use it in place, and copy all others. Read its arrays anew
 * for each use: when a table grows, earlier views become empty.
 */
export interface KernelRow extends WeightedRow {
  /** Makes room for `entries` ratings. If it has to grow, all entries are lost: ω and c are 1. */
  reserve(entries: number): void;
}

/**
 * f(w) = Σ cₑ[ωₑ(yₑ − w·vₑ)² − κ(p − w·vₑ)²] + scale·wSw + ridge·‖w‖² − 2 q·w. The sum runs over
 * the entries of the row; vₑ is the table's vector at slots[e], and yₑ = base + slope·values[e].
 */
export interface Quadratic {
  row: WeightedRow;
  base: number;
  slope: number;
  /** κ */
  known: number;
  /** p */
  prior: number;
  scale: number;
  /** S, k×k row-major, symmetric. */
  matrix: Float64Array;
  ridge: number;
  /** q */
  linear: Float32Array;
}

/**
 * f(w) = weight·wAw + scale·wSw + ridge·‖w‖² − 2 q·w: a quadratic whose entries were summed
 * beforehand, so that the cost of a descent does not depend on their number.
 */
export interface SummedQuadratic {
  weight: number;
  /** The first k(k+1)/2 floats are the lower triangle of A, row after row. A is symmetric. */
  triangle: Float32Array;
  scale: number;
  /** S, k×k row-major, symmetric. */
  matrix: Float64Array;
  ridge: number;
  /** q */
  linear: Float32Array;
}

/** The slots with the highest scores, best first; at most as many as the arrays are long. */
export interface Best {
  length: number;
  slots: Uint32Array;
  scores: Float32Array;
}

/**
 * A table whose vectors are stored in the order of their norms, so that a search can stop as soon
 * as no remaining vector is long enough to reach the list. A vector keeps its slot when it moves in
 * memory.
 */
export interface RankedTable extends VectorTable {
  /** A hidden slot keeps its vector, but searches never return it. */
  hide(slot: number, hidden: boolean): void;
  isHidden(slot: number): boolean;
  /**
   * Chooses a new basis from the vectors and the most recent queries, in which searches scan fewer
   * vectors; their results stay the same. Returns false if no basis would be much better. Otherwise
   * every vector moves to the new basis when it is next written, and `migrate` moves the others.
   */
  rebase(): boolean;
  /** Moves up to `count` vectors to the basis that `rebase` chose; true if all are moved. */
  migrate(count: number): boolean;
}

/** A search for the slots with the highest query·v. The kernel fills `best` and `tied`. */
export interface Search {
  readonly query: Float32Array;
  readonly raises?: Raises | undefined;
  /** Slots that this search must not return; duplicates are allowed. */
  readonly excluded: ArrayLike<number>;
  /** Best first; equal scores are in no particular order. */
  readonly best: Best;
  /** Whether a slot that is not in `best` has the same score as the last one in it. */
  tied: boolean;
}

/** f at the start and at the end of a descent. */
export interface Descent {
  before: number;
  after: number;
}

export interface Kernels {
  /** Creates a table in the memory of these kernels; other kernels refuse it. */
  table(factorCount: number): VectorTable;
  /** A zero matrix in the memory of these kernels. */
  matrix(factorCount: number): Matrix;
  /** A row in the memory of these kernels, with room for `entries` ratings. */
  row(entries: number): KernelRow;
  /** a·b */
  dot(a: Float32Array, b: Float32Array): number;
  /** out += scale · S·v, with S symmetric, k×k, row-major. */
  symv(scale: number, s: Float64Array, v: Float32Array, out: Float64Array): void;
  /** S += a·aᵀ − b·bᵀ with one rounding of S; b and a are the vectors, scaled in float32. */
  syrMove(
    before: Float32Array,
    after: Float32Array,
    s: Float64Array,
    beforeScale?: number,
    afterScale?: number,
  ): void;
  /**
   * A += sign · v·vᵀ in single precision, where `triangle` begins with the lower triangle of A.
   * Each cell is then rounded so that its last four bits are zero. Rounding is stochastic, with
   * bits of v as the random source: a long sum has the right expectation and keeps growing where
   * rounding to nearest would swallow every further term.
   */
  syrTriangle(sign: 1 | -1, v: Float32Array, triangle: Float32Array): void;
  /** out[e] = query·v for each of the first `length` slots. */
  rowDots(
    query: Float32Array,
    slots: Uint32Array,
    length: number,
    table: VectorTable,
    out: Float32Array,
  ): void;
  /** out += Σ coefficient·v over the first `length` slots. */
  rowSum(
    coefficients: Float32Array,
    slots: Uint32Array,
    length: number,
    table: VectorTable,
    out: Float64Array,
  ): void;
  /**
   * How much more alike the vectors of a row are to those just before them than any two of the
   * row: the autocorrelations for a lag of 1, 2, 3 …, weighed by .8 to the power of the lag, which
   * vary less by chance than the first alone. About −1/length where the order is random, towards 1
   * where the vectors drift slowly, and 0 where all are the same.
   */
  rowOrder(row: WeightedRow, table: VectorTable): number;
  /** Takes up to `steps` conjugate gradient steps with exact line search; moves `own` in place. */
  descend(f: Quadratic, table: VectorTable, steps: number, own: Float32Array, out: Descent): void;
  /** The same for a quadratic whose entries are already summed. */
  descendSums(f: SummedQuadratic, steps: number, own: Float32Array, out: Descent): void;
  /** out[slot] = query·v for every slot below `slotEnd`; 0 for removed slots. */
  scores(query: Float32Array, table: VectorTable, out: Float32Array): void;
  rankedTable(factorCount: number): RankedTable;
  listPage(entries: number): ListPage;
  /** `room`: the most slots that may have a sum. */
  slotSums(room: number): SlotSums;
  /** Adds scale · weight to the sum of each slot of a list, which has no slot twice. */
  gather(page: ListPage, start: number, length: number, scale: number, sums: SlotSums): void;
  /** Fills `best` and `tied` exactly. */
  search(search: Search, table: RankedTable): void;
  /** Every slot with exactly this query·v that is not hidden, in no particular order. */
  slotsScoring(query: Float32Array, score: number, table: RankedTable): number[];
  /** out[e] = the score that a search would return for slots[e]. */
  scoresOf(
    query: Float32Array,
    slots: ArrayLike<number>,
    table: RankedTable,
    out: Float32Array,
    raises?: Raises,
  ): void;
}
