/** Small dense systems of equations: S·x = b with S symmetric and positive definite, k×k, row-major. */

/**
 * Turns the lower triangle of S into L with L·Lᵀ = S. Returns false if S is not positive definite. A pivot that is not above
 * `flat`, if that is more than 0, stands for a direction without curvature: solutions have nothing of it.
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

/** x of L·Lᵀ·x = b, in place of b. */
export function solveFactored(lower: Float64Array, x: Float64Array): void {
  const k = x.length;
  for (let row = 0; row < k; row++) {
    let sum = x[row];
    for (let f = 0; f < row; f++) sum -= lower[row * k + f] * x[f];
    x[row] = sum / lower[row * k + row];
  }
  solveTransposed(lower, x);
}

/** x of Lᵀ·x = b, in place of b. */
export function solveTransposed(lower: Float64Array, x: Float64Array): void {
  const k = x.length;
  for (let row = k - 1; row >= 0; row--) {
    let sum = x[row];
    for (let f = row + 1; f < k; f++) sum -= lower[f * k + row] * x[f];
    x[row] = sum / lower[row * k + row];
  }
}
