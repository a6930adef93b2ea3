// Conjugate gradients on a Quadratic: a whole half-step is one call, without calls back into
// JavaScript.
import { blend, symv } from './matrix';
import { curvatureOnly, curvaturePass, gradientPass, pulled } from './row';
import { dot, promote, sumOfDoubles } from './vectors';

/** A descent stops at this share of the squared residual, the limit of single precision. */
const CONVERGED: f64 = 1e-10;
/** A curvature below this share of the largest one is only a rounding error. */
const FLAT: f64 = 1e-6;

/**
 * `end` is four bytes per entry, rounded up to a multiple of sixteen. `scratch` has room for three
 * f32 vectors of `bytes` bytes (residual, direction, image) and two f64 vectors. The values of f
 * before and after are written to `outcome`.
 */
export function descend(
  k: u32, bytes: usize, end: usize, pointers: usize, curvatures: usize, pulls: usize,
  scale: f64, s: usize, ridge: f64, linear: usize, steps: u32, own: usize, scratch: usize,
  outcome: usize,
): void {
  const residual = scratch;
  const direction = residual + bytes;
  const image = direction + bytes;
  const wide = image + bytes;
  const product = wide + 2 * bytes;

  let value = multiply(scale, s, ridge, own, residual, k, bytes, wide, product);
  const ownLinear = dot(own, linear, bytes);
  for (let at: usize = 0; at < bytes; at += 16) {
    v128.store(residual + at, f32x4.sub(v128.load(linear + at), v128.load(residual + at)));
  }
  const fitted = gradientPass(own, pointers, curvatures, pulls, end, residual, bytes);
  value -= 2 * ownLinear + fitted + pulled;
  store<f64>(outcome, value);
  memory.copy(direction, residual, bytes);
  let norm = dot(residual, residual, bytes);
  const enough = norm * CONVERGED;
  let steepest: f64 = 0;

  for (let step: u32 = 1; step <= steps && norm > enough; step++) {
    let curvature = multiply(scale, s, ridge, direction, image, k, bytes, wide, product);
    if (step < steps) {
      curvature += curvaturePass(direction, pointers, curvatures, end, image, bytes);
    } else {
      curvature += curvatureOnly(direction, pointers, curvatures, end, bytes);
    }
    const slope = dot(residual, direction, bytes);
    const t = slope / curvature;
    const bend = curvature / dot(direction, direction, bytes);
    steepest = max(steepest, bend);
    // The direction is flat, f is not convex (a rating weighs less than the prior), or the step is
    // out of range.
    if (
      !(bend > FLAT * steepest && slope > 0 && slope * t < f64.MAX_VALUE && t < f32.MAX_VALUE)
    ) break;
    value -= t * slope;
    move(<f32>t, own, direction, residual, image, bytes);
    const next = dot(residual, residual, bytes);
    turn(<f32>(next / norm), direction, residual, bytes);
    norm = next;
  }
  store<f64>(outcome + 8, value);
}

/** The same without entries, for the matrix weight·A + scale·S, which is written to `blended`. */
export function descendSums(
  k: u32, bytes: usize, weight: f64, triangle: usize, scale: f64, s: usize, blended: usize,
  ridge: f64, linear: usize, steps: u32, own: usize, scratch: usize, outcome: usize,
): void {
  blend(weight, triangle, scale, s, blended, k);
  descend(k, bytes, 0, 0, 0, 0, 1, blended, ridge, linear, steps, own, scratch, outcome);
}

/** out = scale·S·v + ridge·v; returns v·out. */
function multiply(
  scale: f64, s: usize, ridge: f64, v: usize, out: usize, k: u32, bytes: usize,
  wide: usize, product: usize,
): f64 {
  promote(v, wide, bytes);
  for (let at: usize = 0; at < 2 * bytes; at += 16) {
    v128.store(product + at, f64x2.mul(f64x2.splat(ridge), v128.load(wide + at)));
  }
  symv(scale, s, wide, product, k);
  let sum = f64x2.splat(0);
  for (let at: usize = 0; at < bytes; at += 8) {
    const pair = v128.load(product + 2 * at);
    sum = f64x2.add(sum, f64x2.mul(pair, v128.load(wide + 2 * at)));
    v128.store64_lane(out + at, f32x4.demote_f64x2_zero(pair), 0);
  }
  return sumOfDoubles(sum);
}

/** own += t·d, residual −= t·image */
// @ts-ignore: decorator
@inline
function move(
  t: f32, own: usize, direction: usize, residual: usize, image: usize, bytes: usize,
): void {
  const length = f32x4.splat(t);
  for (let at: usize = 0; at < bytes; at += 16) {
    const o = own + at;
    const r = residual + at;
    v128.store(o, f32x4.add(v128.load(o), f32x4.mul(length, v128.load(direction + at))));
    v128.store(r, f32x4.sub(v128.load(r), f32x4.mul(length, v128.load(image + at))));
  }
}

/** d = residual + factor·d */
// @ts-ignore: decorator
@inline
function turn(factor: f32, direction: usize, residual: usize, bytes: usize): void {
  const kept = f32x4.splat(factor);
  for (let at: usize = 0; at < bytes; at += 16) {
    const d = direction + at;
    v128.store(d, f32x4.add(v128.load(residual + at), f32x4.mul(kept, v128.load(d))));
  }
}
