/** Which value do so many of the observations of a histogram stay below? As Prometheus estimates it. */
export function quantile(share: number, buckets: ReadonlyMap<number, number>): number {
  const bounds = [...buckets].sort(([a], [b]) => a - b);
  const total = bounds.at(-1)?.[1] ?? 0;
  if (!(total > 0)) return Number.NaN;
  const rank = share * total;
  let [below, counted] = [0, 0];
  for (const [bound, count] of bounds) {
    // Beyond the last bound nothing is known but that it was reached.
    if (!Number.isFinite(bound)) return below;
    if (count >= rank) return below + (bound - below) * ((rank - counted) / (count - counted));
    [below, counted] = [bound, count];
  }
  return below;
}
