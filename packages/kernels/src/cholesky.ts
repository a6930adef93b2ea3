/** Solves small dense systems S·x = b; S is symmetric, positive definite, k×k and row-major. */

/**
 * Replaces the lower triangle of S by L with L·Lᵀ = S. Returns false if S is not positive definite.
 * If `flat` is greater than 0, a pivot of at most `flat` counts as a direction without curvature,
 * and solutions are 0 along it.
 */
export function cholesky(s: Float64Array, k: number, flat = 0): boolean {
  for (let row = 0; row < k; row++) {
    for (let col = 0; col <= row; col++) {
      let sum = s[row * k + col];
      for (let f = 0; f < col; f++) sum -= s[row * k + f] * s[col * k + f];
      if (row !== col) s[row * k + col] = sum / s[col * k + col];
      else if (sum > flat && sum < Number.POSITIVE_INFINITY) s[row * k + row] = Math.sqrt(sum);
      else if (flat > 0 && sum <= flat) s[row * k + row] = Number.POSITIVE_INFINITY;
      else return false;
    }
  }
  return true;
}

/** Solves L·Lᵀ·x = b; `x` is b before and the solution after. */
export function solveFactored(lower: Float64Array, x: Float64Array): void {
  const k = x.length;
  for (let row = 0; row < k; row++) {
    let sum = x[row];
    for (let f = 0; f < row; f++) sum -= lower[row * k + f] * x[f];
    x[row] = sum / lower[row * k + row];
  }
  solveTransposed(lower, x);
}

/** Solves Lᵀ·x = b; `x` is b before and the solution after. */
export function solveTransposed(lower: Float64Array, x: Float64Array): void {
  const k = x.length;
  for (let row = k - 1; row >= 0; row--) {
    let sum = x[row];
    for (let f = row + 1; f < k; f++) sum -= lower[f * k + row] * x[f];
    x[row] = sum / lower[row * k + row];
  }
}
