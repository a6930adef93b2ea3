/**
 * How often does a user's held-out item score above one the user never rated? AUC over all pairs of
 * a relevant and an irrelevant item, ties half, by one sort instead of all pairs.
 */

export function auc(
  relevant: ArrayLike<number>,
  irrelevant: ArrayLike<number>,
): number | undefined {
  if (relevant.length === 0 || irrelevant.length === 0) return undefined;
  const others = new Float64Array(irrelevant).sort();
  let won = 0;
  for (let i = 0; i < relevant.length; i++) {
    const below = countBelow(others, relevant[i]);
    won += below + (countUpTo(others, relevant[i]) - below) / 2;
  }
  return won / (relevant.length * irrelevant.length);
}

/** Values smaller than x in an ascending array. */
function countBelow(ascending: Float64Array, x: number): number {
  return partition(ascending, (value) => value < x);
}

function countUpTo(ascending: Float64Array, x: number): number {
  return partition(ascending, (value) => value <= x);
}

function partition(ascending: Float64Array, before: (value: number) => boolean): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(ascending[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}
