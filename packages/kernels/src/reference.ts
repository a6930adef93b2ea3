/**
 * The kernels in plain TypeScript. Tests compare the WebAssembly kernels with these, and benchmarks
 * use them as the baseline. They use contiguous arrays, allocate nothing per call and sum in double
 * precision.
 */

import type { Descent, Kernels, Quadratic, SummedQuadratic, VectorTable } from './kernels.ts';
import { MAX_FACTOR_COUNT } from './kernels.ts';
import { ReferenceSlotSums } from './reference-lists.ts';
import { ReferenceRankedTable } from './reference-ranked-table.ts';
import { ReferenceRow } from './reference-row.ts';
import { checkLength, ReferenceTable } from './reference-table.ts';

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let f = 0; f < a.length; f++) sum += a[f] * b[f];
  return sum;
}

/** out += scale · S·v, with S symmetric, k×k, row-major. */
function symv(scale: number, s: Float64Array, v: Float32Array, out: Float64Array): void {
  const k = v.length;
  for (let row = 0, at = 0; row < k; row++) {
    let sum = 0;
    for (let col = 0; col < k; col++, at++) sum += s[at] * v[col];
    out[row] += scale * sum;
  }
}

/** S += a·aᵀ − b·bᵀ, where a and b are the scaled vectors after and before. */
function syrMove(
  before: Float32Array,
  after: Float32Array,
  s: Float64Array,
  beforeScale = 1,
  afterScale = 1,
): void {
  const k = after.length;
  for (let row = 0, at = 0; row < k; row++) {
    const is = Math.fround(afterScale * after[row]);
    const was = Math.fround(beforeScale * before[row]);
    for (let col = 0; col < k; col++, at++) {
      const added = is * Math.fround(afterScale * after[col]);
      s[at] += added - was * Math.fround(beforeScale * before[col]);
    }
  }
}

/** One number as a float32, and the same four bytes as an integer. */
const float = new Float32Array(1);
const bits = new Int32Array(float.buffer);

/**
 * A += sign · v·vᵀ, where A is a lower triangle, row after row. Products and sums are rounded to
 * float32, and the sums then to 28 bits: adding the dither to the last four bits rounds the
 * magnitude up if it carries.
 */
function syrTriangle(sign: 1 | -1, v: Float32Array, triangle: Float32Array): void {
  const dither = ditherOf(v);
  for (let row = 0, at = 0; row < v.length; row++) {
    const factor = sign * v[row];
    for (let col = 0; col <= row; col++, at++) {
      float[0] = triangle[at] + Math.fround(factor * v[col]);
      bits[0] = (bits[0] + dither) & ~15;
      triangle[at] = float[0];
    }
  }
}

/** All bits of v, folded to four: nearly random, yet equal vectors have equal dithers. */
function ditherOf(v: Float32Array): number {
  let folded = 0;
  for (let f = 0; f < v.length; f++) {
    float[0] = v[f];
    folded ^= bits[0];
  }
  folded ^= folded >>> 16;
  folded ^= folded >>> 8;
  folded ^= folded >>> 4;
  return folded & 15;
}

/** A descent stops at this share of the squared residual, the limit of single precision. */
const CONVERGED = 1e-10;
/** A curvature below this share of the largest one is only a rounding error. */
const FLAT = 1e-6;
const MAX_FLOAT = 3.4e38;

/** Scratch memory of a descent, as long as the longest vector. */
const residual = new Float32Array(MAX_FACTOR_COUNT);
const direction = new Float32Array(MAX_FACTOR_COUNT);
const image = new Float64Array(MAX_FACTOR_COUNT);

/** Conjugate gradients on f; `image` holds A·d, where A is half the Hessian of f. */
function descend(
  f: Quadratic,
  data: Float32Array,
  steps: number,
  own: Float32Array,
  out: Descent,
): void {
  const k = own.length;
  let value = start(f, data, own);
  out.before = value;
  let norm = 0;
  for (let i = 0; i < k; i++) {
    direction[i] = residual[i];
    norm += residual[i] * residual[i];
  }
  const enough = norm * CONVERGED;
  let steepest = 0;
  for (let step = 1; step <= steps && norm > enough; step++) {
    const curvature = applyHessian(f, data, k, step < steps);
    let slope = 0;
    let length = 0;
    for (let i = 0; i < k; i++) {
      slope += residual[i] * direction[i];
      length += direction[i] * direction[i];
    }
    const t = slope / curvature;
    const bend = curvature / length;
    steepest = Math.max(steepest, bend);
    // The direction is flat, f is not convex (a rating weighs less than the prior), or the step is
    // out of range.
    if (!(bend > FLAT * steepest && slope > 0 && slope * t < Number.MAX_VALUE && t < MAX_FLOAT))
      break;
    value -= t * slope;
    let next = 0;
    for (let i = 0; i < k; i++) {
      own[i] += t * direction[i];
      residual[i] -= t * image[i];
      next += residual[i] * residual[i];
    }
    const turn = next / norm;
    for (let i = 0; i < k; i++) direction[i] = residual[i] + turn * direction[i];
    norm = next;
  }
  out.after = value;
}

/** Descends on a quadratic without entries whose matrix is weight·A + scale·S. */
function descendSums(f: SummedQuadratic, steps: number, own: Float32Array, out: Descent): void {
  const k = own.length;
  const { weight, triangle, scale, ridge, linear } = f;
  if (blended.length < k * k) blended = new Float64Array(k * k);
  for (let row = 0, at = 0; row < k; row++) {
    for (let col = 0; col <= row; col++, at++) {
      const cell = weight * triangle[at] + scale * f.matrix[row * k + col];
      blended[row * k + col] = cell;
      blended[col * k + row] = cell;
    }
  }
  descend({ ...noEntries, scale: 1, matrix: blended, ridge, linear }, noFloats, steps, own, out);
}

let blended = new Float64Array(0);
const noFloats = new Float32Array();
const noEntries = { row: new ReferenceRow(0), base: 0, slope: 0, known: 0, prior: 0 };

/** Returns f(own) and leaves −∇f/2 in `residual`. */
function start(f: Quadratic, data: Float32Array, own: Float32Array): number {
  const k = own.length;
  const { row: entries, base, slope, known, prior, matrix, linear, scale, ridge } = f;
  const { slots, values, weights, copies } = entries;
  let value = 0;
  for (let row = 0, at = 0; row < k; row++) {
    let sum = 0;
    for (let col = 0; col < k; col++, at++) sum += matrix[at] * own[col];
    const pull = scale * sum + ridge * own[row];
    value += own[row] * (pull - 2 * linear[row]);
    image[row] = linear[row] - pull;
  }
  for (let e = 0; e < entries.length; e++) {
    const at = slots[e] * k;
    const x = dotAt(own, k, data, at);
    const missed = base + slope * values[e] - x;
    const ofPrior = known * (prior - x);
    value += copies[e] * (weights[e] * missed * missed - ofPrior * (prior - x));
    const coefficient = copies[e] * (weights[e] * missed - ofPrior);
    for (let i = 0; i < k; i++) image[i] += coefficient * data[at + i];
  }
  for (let i = 0; i < k; i++) residual[i] = image[i];
  return value;
}

/** Returns d·A·d for the current direction d, and leaves A·d in `image` if `wantImage`. */
function applyHessian(f: Quadratic, data: Float32Array, k: number, wantImage: boolean): number {
  const { row: entries, known, matrix, scale, ridge } = f;
  const { slots, weights, copies } = entries;
  let curvature = 0;
  for (let row = 0, at = 0; row < k; row++) {
    let sum = 0;
    for (let col = 0; col < k; col++, at++) sum += matrix[at] * direction[col];
    image[row] = scale * sum + ridge * direction[row];
    curvature += image[row] * direction[row];
  }
  for (let e = 0; e < entries.length; e++) {
    const at = slots[e] * k;
    const y = dotAt(direction, k, data, at);
    const coefficient = copies[e] * (weights[e] - known) * y;
    curvature += coefficient * y;
    if (wantImage) for (let i = 0; i < k; i++) image[i] += coefficient * data[at + i];
  }
  return curvature;
}

export function referenceKernels(): Kernels {
  return {
    table: (factorCount) => new ReferenceTable(factorCount),
    matrix: (factorCount) => ({ cells: new Float64Array(factorCount ** 2) }),
    row: (entries) => new ReferenceRow(entries),
    dot,
    symv,
    syrMove,
    syrTriangle,
    rowDots(query, slots, length, table, out) {
      const data = dataOf(table, query.length);
      for (let e = 0; e < length; e++)
        out[e] = dotAt(query, query.length, data, slots[e] * query.length);
    },
    rowSum(coefficients, slots, length, table, out) {
      const data = dataOf(table, out.length);
      const k = table.factorCount;
      for (let e = 0; e < length; e++) {
        const at = slots[e] * k;
        for (let i = 0; i < k; i++) out[i] += coefficients[e] * data[at + i];
      }
    },
    rowOrder({ slots, length }, table) {
      const k = table.factorCount;
      const data = dataOf(table, k);
      const vectors = Array.from(slots.subarray(0, length), (slot) => {
        return Float64Array.from(data.subarray(slot * k, slot * k + k));
      });
      const mean = new Float64Array(k);
      for (const v of vectors) for (let f = 0; f < k; f++) mean[f] += v[f] / length;
      let all = 0;
      for (const v of vectors) all += v.reduce((sum, x) => sum + x * x, 0);
      for (const v of vectors) for (let f = 0; f < k; f++) v[f] -= mean[f];
      const trail = new Float64Array(k);
      let [spread, along] = [0, 0];
      for (const v of vectors) {
        for (let f = 0; f < k; f++) {
          spread += v[f] * v[f];
          along += v[f] * trail[f];
          trail[f] = 0.8 * trail[f] + v[f];
        }
      }
      return spread > 1e-5 * all ? ((1 - 0.8) * along) / spread : 0;
    },
    descend: (f, table, steps, own, out) => descend(f, dataOf(table, own.length), steps, own, out),
    descendSums,
    scores(query, table, out) {
      const data = dataOf(table, query.length);
      for (let slot = 0; slot < table.slotEnd; slot++) {
        out[slot] = dotAt(query, query.length, data, slot * query.length);
      }
    },
    rankedTable: (factorCount) => new ReferenceRankedTable(factorCount),
    listPage: (entries) => ({
      numbers: new Uint32Array(entries),
      weights: new Float32Array(entries),
    }),
    slotSums: () => new ReferenceSlotSums(),
    gather(page, start, length, scale, sums) {
      if (!(sums instanceof ReferenceSlotSums)) {
        throw new TypeError('these sums were made by other kernels');
      }
      sums.gather(page, start, length, scale);
    },
    search: (search, table) => rankedOf(table).search(search),
    scoresOf: (query, slots, table, out, raises) =>
      rankedOf(table).scoresOf(query, slots, out, raises),
    slotsScoring: (query, score, table) => rankedOf(table).slotsScoring(query, score),
  };
}

/** Four independent sums, so that one addition need not wait for the previous one. */
function dotAt(query: Float32Array, k: number, data: Float32Array, at: number): number {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let f = 0;
  for (; f + 4 <= k; f += 4) {
    s0 += query[f] * data[at + f];
    s1 += query[f + 1] * data[at + f + 1];
    s2 += query[f + 2] * data[at + f + 2];
    s3 += query[f + 3] * data[at + f + 3];
  }
  for (; f < k; f++) s0 += query[f] * data[at + f];
  return s0 + s1 + (s2 + s3);
}

function dataOf(table: VectorTable, factorCount: number): Float32Array {
  if (!(table instanceof ReferenceTable)) {
    throw new TypeError('this table was made by other kernels');
  }
  checkLength(factorCount, table.factorCount);
  return table.data;
}

function rankedOf(table: VectorTable): ReferenceRankedTable {
  if (!(table instanceof ReferenceRankedTable)) {
    throw new TypeError('this table was made by other kernels');
  }
  return table;
}
