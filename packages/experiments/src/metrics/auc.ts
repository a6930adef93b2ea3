/**
 * How often does a held-out item of a user score above an item that the user never rated? AUC over
 * all pairs of a relevant and an irrelevant item, with ties as one half, computed by one sort.
 */

export function auc(
  relevant: ArrayLike<number>,
  irrelevant: ArrayLike<number>,
): number | undefined {
  if (relevant.length === 0 || irrelevant.length === 0) return undefined;
  const others = new Float64Array(irrelevant).sort();
  let won = 0;
  for (let i = 0; i < relevant.length; i++) {
    const below = countWhile(others, (score) => score < relevant[i]);
    const upTo = countWhile(others, (score) => score <= relevant[i]);
    won += below + (upTo - below) / 2;
  }
  return won / (relevant.length * irrelevant.length);
}

/** How many values come before the first for which `before` is false, by binary search. */
function countWhile(ascending: Float64Array, before: (value: number) => boolean): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(ascending[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}
