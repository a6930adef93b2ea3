/**
 * The place of an item among the candidates of one user: how many score below it, the same, above
 * it. AUC and hit rate of one event follow. Ties count half: equal scores know nothing.
 */

export type Place = Readonly<Record<'below' | 'tied' | 'above', number>>;

/**
 * The candidates are items 0 … known − 1 without the item itself and those excluded, each named
 * once. To count all and subtract the excluded is twice as fast as to check each.
 */
export function placeOf(
  scores: Float32Array,
  item: number,
  known: number,
  excluded: ArrayLike<number>,
): Place {
  const score = scores[item];
  if (Number.isNaN(score)) throw new RangeError(`the score of item ${item} is not a number`);
  let below = 0;
  let tied = 0;
  for (let other = 0; other < known; other++) {
    if (scores[other] < score) below++;
    else if (scores[other] === score) tied++;
  }
  let candidates = known;
  for (let i = 0; i < excluded.length; i++) {
    const other = excluded[i];
    if (other >= known || other === item) continue;
    candidates--;
    if (scores[other] < score) below--;
    else if (scores[other] === score) tied--;
  }
  if (item < known) {
    candidates--;
    tied--;
  }
  return { below, tied, above: candidates - below - tied };
}

/** Share of the candidates below, ties half; undefined without candidates. */
export function aucOf({ below, tied, above }: Place): number | undefined {
  const candidates = below + tied + above;
  return candidates === 0 ? undefined : (below + tied / 2) / candidates;
}

/** Chance of being among the first n when ties are broken by lot. */
export function hitRateOf({ tied, above }: Place, n: number): number {
  return Math.max(0, Math.min(1, (n - above) / (tied + 1)));
}
