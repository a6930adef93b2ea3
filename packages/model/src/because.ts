/**
 * Why does an item have its score? A score is θ₀(w − w̄)·h + θ₁w̄·h + θ₂ … · counts + a raise. At
 * the minimum of the user's block (eq:block), w = A⁻¹(Σ ω·y·h + μ·w̄), where A is half the Hessian:
 * a sum with one term for each rating and one for the mean. `rest` is the part that these terms do
 * not explain because the vector has not fully converged, so that all parts add up to the score.
 */
import { cholesky, referenceKernels, solveFactored } from '@freshet/kernels';
import type { RankingQuery } from './combiner.ts';
import type { Grams } from './gram.ts';
import { priorWeight, shrinkage, targetLine } from './prior-weight.ts';
import { emptyRow, RowWindow } from './row-window.ts';
import type { ModelSettings } from './settings.ts';

interface ExplainedRating {
  readonly item: string;
  readonly value: number;
  readonly vector: Float32Array;
}

/** The item whose score is explained. */
interface ExplainedItem {
  readonly vector: Float32Array;
  readonly counts: Float32Array;
  readonly score: number;
  /** Its raise, divided among the user's recent items that it often follows. */
  readonly after: Reasons['after'];
}

export interface Reasons {
  readonly score: number;
  readonly contributions: readonly { item: string; value: number; contribution: number }[];
  /** The part that comes from how often the item is rated, in total and recently. */
  readonly popular: number;
  /** The part that comes from how often new users rate it. */
  readonly newcomers: number;
  /** The part that comes from the mean vector of all users. */
  readonly mean: number;
  /** The parts that come from following items which the user rated last. */
  readonly after: readonly { item: string; contribution: number }[];
  readonly rest: number;
}

/** Index of the newcomers' count among the features of FeatureTable. */
const OF_NEWCOMERS = 2;

/** `all` are the user's ratings, oldest first. Only those that a half-step uses contribute. */
export function because(
  all: readonly ExplainedRating[],
  { vector, counts, score, after }: ExplainedItem,
  { weights: [ofOwn, ofMean], counts: ofCounts, mean: meanUser }: RankingQuery,
  grams: Grams,
  settings: ModelSettings,
): Reasons {
  const byCount = Array.from(ofCounts, (weight, at) => weight * counts[at]);
  const newcomers = byCount[OF_NEWCOMERS];
  const popular = sumOf(byCount.filter((_, at) => at !== OF_NEWCOMERS));
  const own = ownParts(all, vector, meanUser, grams, settings);
  const contributions = own.contributions.map((part) => ({
    ...part,
    contribution: ofOwn * part.contribution,
  }));
  // The share of w̄ in w·h, plus the part of w̄·h that the user's own taste does not count yet.
  const mean = ofOwn * own.mean + (ofMean - ofOwn) * dot(meanUser, vector);
  const told = sumOf([...contributions, ...after].map(({ contribution }) => contribution));
  contributions.sort((a, b) => b.contribution - a.contribution);
  const rest = score - (told + popular + newcomers + mean);
  return { score, contributions, popular, newcomers, mean, after, rest };
}

/** w·h as a sum over the ratings and the mean. */
function ownParts(
  all: readonly ExplainedRating[],
  target: Float32Array,
  meanUser: Float32Array,
  grams: Grams,
  settings: ModelSettings,
): Pick<Reasons, 'contributions' | 'mean'> {
  // A user without ratings has the mean as her vector.
  if (all.length === 0) return { contributions: [], mean: dot(meanUser, target) };
  const k = target.length;
  const { priorValue, priorCells } = settings;
  const alpha = priorWeight(settings.rho, grams);
  const known = priorCells === 'unknown' ? alpha : 0;
  const mu = shrinkage(settings, 'user', grams);
  const { base, slope } = targetLine(settings, grams);
  const weights = weightsOf(all, settings);
  const ratings = all.slice(all.length - weights.length);
  const matrix = Float64Array.from(grams.item.matrix, (cell) => alpha * cell);
  for (let f = 0; f < k; f++) matrix[f * k + f] += mu;
  ratings.forEach(({ vector }, nth) => {
    addOuter(weights[nth] - known, vector, matrix);
  });
  const influence = solve(matrix, Float64Array.from(target));
  const contributions = ratings.map(({ item, value, vector }, nth) => {
    const pull = weights[nth] * (base + slope * value) - known * priorValue;
    return { item, value, contribution: pull * dot(influence, vector) };
  });
  const ofPrior = alpha * priorValue * dot(influence, grams.item.sum);
  return { contributions, mean: mu * dot(influence, meanUser) + ofPrior };
}

function sumOf(parts: readonly number[]): number {
  return parts.reduce((sum, part) => sum + part, 0);
}

/** The weights that a half-step gives the newest ratings. */
function weightsOf(all: readonly ExplainedRating[], settings: ModelSettings): Float32Array {
  const kernels = referenceKernels();
  const items = kernels.table(settings.factorCount);
  const full = { ...emptyRow(all.length), start: 0, length: all.length };
  all.forEach(({ vector }, nth) => {
    full.slots[nth] = items.add();
    items.write(full.slots[nth], vector);
  });
  const { weights, length } = new RowWindow(kernels, settings).of(full, items);
  return weights.slice(0, length);
}

function addOuter(scale: number, v: Float32Array, matrix: Float64Array): void {
  const k = v.length;
  for (let row = 0; row < k; row++) {
    const scaled = scale * v[row];
    for (let col = 0; col < k; col++) {
      const at = row * k + col;
      matrix[at] += scaled * v[col];
    }
  }
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let f = 0; f < a.length; f++) sum += a[f] * b[f];
  return sum;
}

/** Replaces b by A⁻¹·b, which is 0 along directions without curvature. */
function solve(a: Float64Array, b: Float64Array): Float64Array {
  const largest = a.reduce((most, each) => Math.max(most, Math.abs(each)), Number.MIN_VALUE);
  cholesky(a, b.length, 1e-12 * largest);
  solveFactored(a, b);
  return b;
}
