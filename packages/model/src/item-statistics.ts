/**
 * How often an item was rated, in the four ways that say something about who rates it next: in all, by
 * newcomers, and two counts that decay, a fast one and a slow one. A decayed count is kept as one number that
 * needs no refreshing: the exponent L for which the count at clock t is 2^(L − t / half-life).
 */

export interface ItemStatistics {
  readonly count: number;
  /** Ratings by users who had rated next to nothing before. */
  readonly newcomers: number;
  /** Exponents of the decayed counts. */
  readonly fast: number;
  readonly slow: number;
  /** The sum of all values, each less the bias of its user: what people give beyond what they always give. */
  readonly excess: number;
}

export const NO_STATISTICS: ItemStatistics = {
  count: 0,
  newcomers: 0,
  fast: Number.NEGATIVE_INFINITY,
  slow: Number.NEGATIVE_INFINITY,
  excess: 0,
};

/** Whoever has fewer earlier ratings is a newcomer. */
export const NEWCOMER_BELOW = 3;
/** In clock units: ratings over the number of items. */
const HALF_LIFE = { fast: 0.1, slow: 2 } as const;

/** One event of an item's ratings: new (`old` is null), changed, or taken back (`value` is null). */
export interface CountedRating {
  readonly value: number | null;
  readonly old: number | null;
  readonly byNewcomer: boolean;
  /** By how much the user's ratings exceed what others give the same items. */
  readonly userBias: number;
}

/** The statistics after one more event, at this clock. */
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

/** The same, as if everything had happened so much later. */
export function laterBy(time: number, statistics: ItemStatistics): ItemStatistics {
  const { fast, slow } = statistics;
  return { ...statistics, fast: fast + time / HALF_LIFE.fast, slow: slow + time / HALF_LIFE.slow };
}

/** log₂(2^a + 2^b) */
function raised(a: number, b: number): number {
  const [most, least] = a > b ? [a, b] : [b, a];
  return most + Math.log2(1 + 2 ** (least - most));
}

/** What the counts of an item are turned into, as people are told: those of `features`, in their order. */
export const countFeatureNames = [
  'rated',
  'rated_often',
  'rated_by_newcomers',
  'rated_now',
  'rated_lately',
] as const;
export const COUNT_FEATURES = countFeatureNames.length;

/** The decayed counts at a clock. */
export function decayedAt({ fast, slow }: ItemStatistics, clock: number): [number, number] {
  return [2 ** (fast - clock / HALF_LIFE.fast), 2 ** (slow - clock / HALF_LIFE.slow)];
}

/** By which both shrink while the clock goes on by so much. */
export function decayOver(time: number): [number, number] {
  return [2 ** (-time / HALF_LIFE.fast), 2 ** (-time / HALF_LIFE.slow)];
}

/** Logarithms, so that a weighted sum of them is a product of powers of counts; 0 of what nobody has rated. */
export const features = {
  count: (count: number) => Math.log1p(count),
  /** Flatter: told apart are only those that are rated often. */
  often: (count: number) => Math.log1p(count / 20),
  newcomers: (newcomers: number) => Math.log1p(newcomers),
  fast: (decayed: number) => Math.log1p(decayed / 2),
  slow: (decayed: number) => Math.log1p(decayed),
} as const;

/** What is kept with an item's vector: its weight in the gram, then its statistics. */
export function figuresOf(weight: number, statistics: ItemStatistics): Float64Array {
  const { count, newcomers, fast, slow, excess } = statistics;
  return Float64Array.of(weight, count, newcomers, fast, slow, excess);
}

/** Without figures nobody has rated it. */
export function statisticsIn(figures: Float64Array): ItemStatistics {
  if (figures.length === 0) return NO_STATISTICS;
  const [, count, newcomers, fast, slow, excess] = figures;
  return { count, newcomers, fast, slow, excess };
}

export function weightIn(figures: Float64Array): number {
  return figures[0] ?? 1;
}
