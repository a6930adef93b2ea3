// Primitives over f32 vectors of `bytes` bytes, a multiple of 16; the padding is zero.

/** Lane i of the result is the sum of the four lanes of the i-th argument. T is f32 or i32. */
// @ts-ignore: decorator
@inline
export function laneSums<T>(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = v128.add<T>(
    v128.shuffle<T>(a, b, 0, 1, 4, 5),
    v128.shuffle<T>(a, b, 2, 3, 6, 7),
  );
  const cd = v128.add<T>(
    v128.shuffle<T>(c, d, 0, 1, 4, 5),
    v128.shuffle<T>(c, d, 2, 3, 6, 7),
  );
  return v128.add<T>(
    v128.shuffle<T>(ab, cd, 0, 2, 4, 6),
    v128.shuffle<T>(ab, cd, 1, 3, 5, 7),
  );
}

/** Adds the four f32 lanes of `v`, widened to f64, to the two f64 lanes of `sum`. */
// @ts-ignore: decorator
@inline
export function addPromoted(sum: v128, v: v128): v128 {
  const high = v128.shuffle<f32>(v, v, 2, 3, 2, 3);
  return f64x2.add(sum, f64x2.add(f64x2.promote_low_f32x4(v), f64x2.promote_low_f32x4(high)));
}

// @ts-ignore: decorator
@inline
export function sumOfDoubles(v: v128): f64 {
  return f64x2.extract_lane(v, 0) + f64x2.extract_lane(v, 1);
}

/** Multiplies in f64, so that the square of a long residual does not overflow. */
export function dot(a: usize, b: usize, bytes: usize): f64 {
  let sum = f64x2.splat(0);
  for (let at: usize = 0; at < bytes; at += 8) {
    const x = f64x2.promote_low_f32x4(v128.load64_zero(a + at));
    const y = f64x2.promote_low_f32x4(v128.load64_zero(b + at));
    sum = f64x2.add(sum, f64x2.mul(x, y));
  }
  return sumOfDoubles(sum);
}

/** Widens f32 numbers to f64. */
export function promote(from: usize, to: usize, bytes: usize): void {
  for (let at: usize = 0; at < bytes; at += 8) {
    v128.store(to + 2 * at, f64x2.promote_low_f32x4(v128.load64_zero(from + at)));
  }
}
