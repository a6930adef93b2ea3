/**
 * How often an item was rated, counted in four ways that help to predict who rates it next: in
 * total, by newcomers, and by two decaying counts, a fast and a slow one. A decaying count is
 * stored as the exponent L for which the count at clock t is 2^(L − t / half-life), so it does not
 * change while the item gets no ratings.
 */

export interface ItemStatistics {
  readonly count: number;
  /** Ratings by users with fewer than NEWCOMER_BELOW earlier ratings. */
  readonly newcomers: number;
  /** The exponents L of the decaying counts. */
  readonly fast: number;
  readonly slow: number;
  /** The sum over all ratings of the value minus the bias of its user. */
  readonly excess: number;
}

export const NO_STATISTICS: ItemStatistics = {
  count: 0,
  newcomers: 0,
  fast: Number.NEGATIVE_INFINITY,
  slow: Number.NEGATIVE_INFINITY,
  excess: 0,
};

/** A user with fewer earlier ratings is a newcomer. */
export const NEWCOMER_BELOW = 3;
/** In units of the clock: ratings divided by the number of items. */
const HALF_LIFE = { fast: 0.1, slow: 2 } as const;

/** One event: a rating is new (`old` is null), changed, or taken back (`value` is null). */
export interface CountedRating {
  readonly value: number | null;
  readonly old: number | null;
  readonly byNewcomer: boolean;
  /** By how much the user's values exceed what others give the same items. */
  readonly userBias: number;
}

/** The statistics after an event at this clock. */
export function withRating(
  { count, newcomers, fast, slow, excess }: ItemStatistics,
  { value, old, byNewcomer, userBias }: CountedRating,
  clock: number,
): ItemStatistics {
  const more = Number(value !== null) - Number(old !== null);
  return {
    count: Math.max(0, count + more),
    newcomers: newcomers + Number(byNewcomer && more > 0),
    fast: value === null ? fast : raised(fast, clock / HALF_LIFE.fast),
    slow: value === null ? slow : raised(slow, clock / HALF_LIFE.slow),
    excess: excess + (value ?? 0) - (old ?? 0) - more * userBias,
  };
}

/** The same statistics as if all events had happened later by `time`. */
export function laterBy(time: number, statistics: ItemStatistics): ItemStatistics {
  const { fast, slow } = statistics;
  return { ...statistics, fast: fast + time / HALF_LIFE.fast, slow: slow + time / HALF_LIFE.slow };
}

/** log₂(2^a + 2^b) */
function raised(a: number, b: number): number {
  const [most, least] = a > b ? [a, b] : [b, a];
  return most + Math.log2(1 + 2 ** (least - most));
}

/** Public names of the features that are computed from counts, in the order of `features`. */
export const countFeatureNames = [
  'rated',
  'rated_often',
  'rated_by_newcomers',
  'rated_now',
  'rated_lately',
] as const;
export const COUNT_FEATURES = countFeatureNames.length;

/** The decaying counts at this clock. */
export function decayedAt({ fast, slow }: ItemStatistics, clock: number): [number, number] {
  return [2 ** (fast - clock / HALF_LIFE.fast), 2 ** (slow - clock / HALF_LIFE.slow)];
}

/** The factors by which both counts shrink when the clock advances by `time`. */
export function decayOver(time: number): [number, number] {
  return [2 ** (-time / HALF_LIFE.fast), 2 ** (-time / HALF_LIFE.slow)];
}

/** Logarithms: a weighted sum is that of a product of powers. 0 for an item without ratings. */
export const features = {
  count: (count: number) => Math.log1p(count),
  /** Flat for small counts: it only tells often rated items apart. */
  often: (count: number) => Math.log1p(count / 20),
  newcomers: (newcomers: number) => Math.log1p(newcomers),
  fast: (decayed: number) => Math.log1p(decayed / 2),
  slow: (decayed: number) => Math.log1p(decayed),
} as const;

/** The numbers stored with an item's vector: its weight in the gram, then its statistics. */
export function figuresOf(weight: number, statistics: ItemStatistics): Float64Array {
  const { count, newcomers, fast, slow, excess } = statistics;
  return Float64Array.of(weight, count, newcomers, fast, slow, excess);
}

/** Empty figures stand for an item without ratings. */
export function statisticsIn(figures: Float64Array): ItemStatistics {
  if (figures.length === 0) return NO_STATISTICS;
  const [, count, newcomers, fast, slow, excess] = figures;
  return { count, newcomers, fast, slow, excess };
}

export function weightIn(figures: Float64Array): number {
  return figures[0] ?? 1;
}
