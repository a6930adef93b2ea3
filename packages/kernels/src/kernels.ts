/**
 * What can be computed over vectors: the contract that the TypeScript reference and the WebAssembly
 * twin both fulfil. Everything here is numbers; nothing knows what a rating or a loss is.
 */

/** The longest vector the kernels take: a descent keeps its scratch in one block of this width. */
export const MAX_FACTOR_COUNT = 256;

/** The vectors of one side, k floats each, addressed by slot. */
export interface VectorTable {
  readonly factorCount: number;
  /** Slots in use. */
  readonly size: number;
  /** One past the highest slot ever handed out: the length of anything indexed by slot. */
  readonly slotEnd: number;
  /** Bytes reserved for vectors, padding and unused slots included. */
  readonly byteLength: number;
  /** A zeroed slot; removed slots are handed out again. */
  add(): number;
  remove(slot: number): void;
  read(slot: number, out: Float32Array): void;
  write(slot: number, vector: Float32Array): void;
}

/** Some ratings of one user or one item; the first `length` entries count. */
export interface WeightedRow {
  length: number;
  /** Where the rated neighbour's vector is. */
  slots: Uint32Array;
  values: Float32Array;
  /** How much each rating counts against the others of the row (1 in the paper). */
  weights: Float32Array;
  /** How many ratings of the full row each entry stands for: 1 unless the row was sampled. */
  copies: Float32Array;
}

/**
 * f(w) = Σ aₑ(w·vₑ)² − 2Σ bₑ(w·vₑ) + scale·wSw + ridge·‖w‖² − 2 q·w, the sums over the first
 * `length` entries, vₑ the vector at slot e of a table.
 */
export interface Quadratic {
  length: number;
  slots: Uint32Array;
  /** aₑ */
  curvatures: Float32Array;
  /** bₑ */
  pulls: Float32Array;
  scale: number;
  /** S, k×k row-major, symmetric. */
  matrix: Float64Array;
  ridge: number;
  /** q */
  linear: Float32Array;
}

/**
 * f(w) = weight·wAw + scale·wSw + ridge·‖w‖² − 2 q·w: a quadratic whose rows were summed up beforehand,
 * so that a descent on it costs the same however many there were.
 */
export interface SummedQuadratic {
  weight: number;
  /** A, symmetric: the first k(k+1)/2 floats are its lower triangle, row after row. */
  triangle: Float32Array;
  scale: number;
  /** S, k×k row-major, symmetric. */
  matrix: Float64Array;
  ridge: number;
  /** q */
  linear: Float32Array;
}

/** The best slots of a scan, best first; room for as many as the arrays are long. */
export interface Best {
  length: number;
  slots: Uint32Array;
  scores: Float32Array;
}

/**
 * Vectors addressed by slot as in any table and laid out by norm, so that a search can stop where no
 * vector is long enough to matter. A slot keeps its number wherever its vector lies.
 */
export interface RankedTable extends VectorTable {
  /** A hidden slot keeps its vector and is never found. */
  hide(slot: number, hidden: boolean): void;
  isHidden(slot: number): boolean;
  /**
   * Chooses how vectors are laid out by the vectors and by the queries of late: searches then look at fewer. What
   * they find does not depend on it. False if nothing would be gained; else every vector that is written is laid out
   * anew, and `migrate` does so with the others.
   */
  rebase(): boolean;
  /** Lays out anew up to `count` vectors that `rebase` left as they were; true if none is left. */
  migrate(count: number): boolean;
}

/** One search for the best slots by query·v; `best` and `tied` are its answer. */
export interface Search {
  readonly query: Float32Array;
  /** Slots that this search leaves out; each may be named more than once. */
  readonly excluded: readonly number[];
  /** Best first; equal scores in no particular order. */
  readonly best: Best;
  /** Whether a slot that found no room has the same score as the last of the best. */
  tied: boolean;
}

/** f at the start and at the end of a descent. */
export interface Descent {
  before: number;
  after: number;
}

export interface Kernels {
  /** A table whose vectors these kernels can reach; tables of other kernels are refused. */
  table(factorCount: number): VectorTable;
  /** a·b */
  dot(a: Float32Array, b: Float32Array): number;
  /** out += scale · S·v, with S symmetric, k×k, row-major. */
  symv(scale: number, s: Float64Array, v: Float32Array, out: Float64Array): void;
  /** S += after·afterᵀ − before·beforeᵀ, the difference taken first: one rounding against S. */
  syrMove(before: Float32Array, after: Float32Array, s: Float64Array): void;
  /**
   * A += sign · v·vᵀ in single precision, A the lower triangle with which `triangle` begins. The last four
   * bits of each cell are then zero. They are rounded away at random, by bits of v: a long sum has the right
   * expectation, and goes on growing where rounding to nearest would stand still.
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
  /** At most `steps` conjugate directions on f, each with its exact line search; `own` moves in place. */
  descend(f: Quadratic, table: VectorTable, steps: number, own: Float32Array, out: Descent): void;
  /** The same on a quadratic that needs no table. */
  descendSums(f: SummedQuadratic, steps: number, own: Float32Array, out: Descent): void;
  /** out[slot] = query·v for every slot below `slotEnd`; 0 where a slot was removed. */
  scores(query: Float32Array, table: VectorTable, out: Float32Array): void;
  rankedTable(factorCount: number): RankedTable;
  /** Answers searches exactly, several of them in one pass over memory. */
  search(searches: readonly Search[], table: RankedTable): void;
  /** Every slot that is not hidden and whose score is exactly this one, in no particular order. */
  slotsScoring(query: Float32Array, score: number, table: RankedTable): number[];
  /** out[e] = the score that a search would find for each of the slots. */
  scoresOf(
    query: Float32Array,
    slots: ArrayLike<number>,
    table: RankedTable,
    out: Float32Array,
  ): void;
}
