/**
 * Decayed popularity as one number that never needs refreshing: the exponent L for which the
 * popularity at time t is 2^(L − t/H). A rating at time t adds 2^(t/H) to 2^L.
 */
const HALF_LIFE_MS = 7 * 24 * 3_600_000;

/** The trend of something nobody has rated. */
export const NO_TREND = Number.NEGATIVE_INFINITY;

export function addToTrend(trend: number, time: number): number {
  const added = time / HALF_LIFE_MS;
  const [most, least] = trend > added ? [trend, added] : [added, trend];
  return most + Math.log2(1 + 2 ** (least - most));
}
