// Symmetric k×k matrices in f64, row-major and without padding; vectors are in f64.
import { sumOfDoubles } from './vectors';

/** out += scale · S·v. Four rows share the loads of v; two sums per row hide latency. */
export function symv(scale: f64, s: usize, v: usize, out: usize, k: u32): void {
  const rowBytes = <usize>k << 3;
  const pairs = rowBytes & ~15;
  const fours = rowBytes & ~31;
  let row: u32 = 0;
  for (; row + 4 <= k; row += 4) {
    const s0 = s + row * rowBytes;
    const s1 = s0 + rowBytes;
    const s2 = s1 + rowBytes;
    const s3 = s2 + rowBytes;
    let a0 = f64x2.splat(0);
    let a1 = f64x2.splat(0);
    let a2 = f64x2.splat(0);
    let a3 = f64x2.splat(0);
    let b0 = f64x2.splat(0);
    let b1 = f64x2.splat(0);
    let b2 = f64x2.splat(0);
    let b3 = f64x2.splat(0);
    let at: usize = 0;
    for (; at < fours; at += 32) {
      const x = v128.load(v + at);
      const y = v128.load(v + at, 16);
      a0 = f64x2.add(a0, f64x2.mul(x, v128.load(s0 + at)));
      a1 = f64x2.add(a1, f64x2.mul(x, v128.load(s1 + at)));
      a2 = f64x2.add(a2, f64x2.mul(x, v128.load(s2 + at)));
      a3 = f64x2.add(a3, f64x2.mul(x, v128.load(s3 + at)));
      b0 = f64x2.add(b0, f64x2.mul(y, v128.load(s0 + at, 16)));
      b1 = f64x2.add(b1, f64x2.mul(y, v128.load(s1 + at, 16)));
      b2 = f64x2.add(b2, f64x2.mul(y, v128.load(s2 + at, 16)));
      b3 = f64x2.add(b3, f64x2.mul(y, v128.load(s3 + at, 16)));
    }
    if (at < pairs) {
      const x = v128.load(v + at);
      a0 = f64x2.add(a0, f64x2.mul(x, v128.load(s0 + at)));
      a1 = f64x2.add(a1, f64x2.mul(x, v128.load(s1 + at)));
      a2 = f64x2.add(a2, f64x2.mul(x, v128.load(s2 + at)));
      a3 = f64x2.add(a3, f64x2.mul(x, v128.load(s3 + at)));
    }
    addCell(out, row, scale, sumOfDoubles(f64x2.add(a0, b0)) + tail(s0, v, pairs, rowBytes));
    addCell(out, row + 1, scale, sumOfDoubles(f64x2.add(a1, b1)) + tail(s1, v, pairs, rowBytes));
    addCell(out, row + 2, scale, sumOfDoubles(f64x2.add(a2, b2)) + tail(s2, v, pairs, rowBytes));
    addCell(out, row + 3, scale, sumOfDoubles(f64x2.add(a3, b3)) + tail(s3, v, pairs, rowBytes));
  }
  for (; row < k; row++) {
    const s0 = s + row * rowBytes;
    let a0 = f64x2.splat(0);
    for (let at: usize = 0; at < pairs; at += 16) {
      a0 = f64x2.add(a0, f64x2.mul(v128.load(v + at), v128.load(s0 + at)));
    }
    addCell(out, row, scale, sumOfDoubles(a0) + tail(s0, v, pairs, rowBytes));
  }
}

/** S += a·aᵀ − b·bᵀ with a and b as below; `wide` has room for both in f64. */
export function syrMove(
  before: usize, beforeScale: f64, after: usize, afterScale: f64, wide: usize, s: usize, k: u32,
  bytes: usize,
): void {
  const b = wide;
  const a = wide + 2 * bytes;
  promoteScaled(before, beforeScale, b, bytes);
  promoteScaled(after, afterScale, a, bytes);
  const rowBytes = <usize>k << 3;
  const pairs = rowBytes & ~15;
  for (let row: usize = 0; row < rowBytes; row += 8) {
    const was = load<f64>(b + row);
    const is = load<f64>(a + row);
    const wasPair = f64x2.splat(was);
    const isPair = f64x2.splat(is);
    for (let at: usize = 0; at < pairs; at += 16) {
      const added = f64x2.mul(isPair, v128.load(a + at));
      const retracted = f64x2.mul(wasPair, v128.load(b + at));
      v128.store(s + at, f64x2.add(v128.load(s + at), f64x2.sub(added, retracted)));
    }
    if (pairs < rowBytes) {
      const change = is * load<f64>(a + pairs) - was * load<f64>(b + pairs);
      store<f64>(s + pairs, load<f64>(s + pairs) + change);
    }
    s += rowBytes;
  }
}

/** to = scale·from, rounded to f32 and widened. */
// @ts-ignore: decorator
@inline
function promoteScaled(from: usize, scale: f64, to: usize, bytes: usize): void {
  const scales = f64x2.splat(scale);
  for (let at: usize = 0; at < bytes; at += 8) {
    const exact = f64x2.mul(scales, f64x2.promote_low_f32x4(v128.load64_zero(from + at)));
    v128.store(to + 2 * at, f64x2.promote_low_f32x4(f32x4.demote_f64x2_zero(exact)));
  }
}

/** A += sign · v·vᵀ in f32, where A is a lower triangle by rows; cells are rounded to 28 bits. */
export function syrTriangle(sign: f32, v: usize, triangle: usize, k: u32): void {
  const end = <usize>k << 2;
  const dither = ditherOf(v, end);
  const dithers = i32x4.splat(dither);
  const kept = i32x4.splat(~15);
  for (let row: usize = 0; row < end; row += 4) {
    const factor = sign * load<f32>(v + row);
    const factors = f32x4.splat(factor);
    let at: usize = 0;
    for (; at + 12 <= row; at += 16) {
      const cells = triangle + at;
      const sums = f32x4.add(v128.load(cells), f32x4.mul(factors, v128.load(v + at)));
      v128.store(cells, v128.and(i32x4.add(sums, dithers), kept));
    }
    for (; at <= row; at += 4) {
      const sum = load<f32>(triangle + at) + factor * load<f32>(v + at);
      store<i32>(triangle + at, (reinterpret<i32>(sum) + dither) & ~15);
    }
    triangle += row + 4;
  }
}

/** All bits of v, folded to four. */
function ditherOf(v: usize, end: usize): i32 {
  let bits: i32 = 0;
  for (let at: usize = 0; at < end; at += 4) bits ^= load<i32>(v + at);
  bits ^= bits >>> 16;
  bits ^= bits >>> 8;
  bits ^= bits >>> 4;
  return bits & 15;
}

/** out = weight·A + scale·S, where A is given by its lower triangle in f32, row after row. */
export function blend(
  weight: f64, triangle: usize, scale: f64, s: usize, out: usize, k: u32,
): void {
  const rowBytes = <usize>k << 3;
  const weights = f64x2.splat(weight);
  const scales = f64x2.splat(scale);
  for (let row: usize = 0; row < rowBytes; row += 8) {
    let mirror = out + row;
    let line = out + <usize>k * row;
    const end = line + row;
    let cell = s + <usize>k * row;
    for (; line < end; line += 16, cell += 16, triangle += 8) {
      const a = f64x2.promote_low_f32x4(v128.load64_zero(triangle));
      const pair = f64x2.add(f64x2.mul(weights, a), f64x2.mul(scales, v128.load(cell)));
      v128.store(line, pair);
      v128.store64_lane(mirror, pair, 0);
      v128.store64_lane(mirror + rowBytes, pair, 1);
      mirror += 2 * rowBytes;
    }
    if (line == end) {
      const diagonal = weight * <f64>load<f32>(triangle) + scale * load<f64>(cell);
      store<f64>(line, diagonal);
      triangle += 4;
    }
  }
}

// @ts-ignore: decorator
@inline
function tail(row: usize, v: usize, pairs: usize, rowBytes: usize): f64 {
  return pairs < rowBytes ? load<f64>(row + pairs) * load<f64>(v + pairs) : 0;
}

// @ts-ignore: decorator
@inline
function addCell(out: usize, row: u32, scale: f64, sum: f64): void {
  const cell = out + (<usize>row << 3);
  store<f64>(cell, load<f64>(cell) + scale * sum);
}
