/**
 * Are the items that a user rates highly near the top? NDCG with discount log2(rank + 1), no
 * cut-off. Items with equal scores share their discounts, the expectation over random tie-breaking.
 */

/** What a rating is worth: 2^r − 1, or r itself. */
const gains = {
  exponential: (rating: number): number => 2 ** rating - 1,
  linear: (rating: number): number => rating,
} as const;

type Gain = keyof typeof gains;

/** scores[i] belongs to ratings[i]. Unrated candidates gain nothing, but take ranks. */
export function ndcg(
  scores: ArrayLike<number>,
  ratings: ArrayLike<number>,
  gain: Gain,
  unrated: ArrayLike<number> = [],
): number | undefined {
  const rated = scores.length;
  const worth = Float64Array.from({ length: rated }, (_, i) => gains[gain](ratings[i]));
  const inOrder = Float64Array.from(worth).sort().reverse();
  const best = inOrder.reduce((sum, each, rank) => sum + each / Math.log2(rank + 2), 0);
  if (best === 0) return undefined;
  const order = Uint32Array.from({ length: rated }, (_, i) => i).sort(
    (a, b) => scores[b] - scores[a],
  );
  const others = new Float64Array(unrated).sort();
  let dcg = 0;
  let passed = others.length; // others[0 … passed) score at most as much as the next rated item
  let rank = 0;
  for (let from = 0; from < rated; ) {
    const score = scores[order[from]];
    let to = from;
    let sum = 0;
    while (to < rated && scores[order[to]] === score) sum += worth[order[to++]];
    while (passed > 0 && others[passed - 1] > score) {
      passed--;
      rank++;
    }
    let tied = to - from;
    while (passed > 0 && others[passed - 1] === score) {
      passed--;
      tied++;
    }
    dcg += (sum / tied) * discounts(rank, rank + tied);
    rank += tied;
    from = to;
  }
  return dcg / best;
}

/** cumulative[r] = Σ of the first r discounts; extended when more are needed. */
let cumulative = new Float64Array([0]);

/** Sum of the discounts of ranks from … to − 1, counted from 0. */
function discounts(from: number, to: number): number {
  if (to >= cumulative.length) {
    const longer = new Float64Array(2 * to + 1);
    longer.set(cumulative);
    for (let rank = cumulative.length - 1; rank < longer.length - 1; rank++) {
      longer[rank + 1] = longer[rank] + 1 / Math.log2(rank + 2);
    }
    cumulative = longer;
  }
  return cumulative[to] - cumulative[from];
}
