// Symmetric k×k matrices in f64, row-major, not padded; vectors in f64.
import { sumOfDoubles } from './vectors';

/** out += scale · S·v; four rows at a time share the loads of v, two sums each hide the latency. */
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

/** S += scale · v·vᵀ */
export function syr(scale: f64, v: usize, s: usize, k: u32): void {
  const rowBytes = <usize>k << 3;
  const pairs = rowBytes & ~15;
  for (let row: u32 = 0; row < k; row++) {
    const factor = scale * load<f64>(v + (<usize>row << 3));
    const start = s + row * rowBytes;
    const factors = f64x2.splat(factor);
    for (let at: usize = 0; at < pairs; at += 16) {
      const cell = start + at;
      v128.store(cell, f64x2.add(v128.load(cell), f64x2.mul(factors, v128.load(v + at))));
    }
    if (pairs < rowBytes) {
      const cell = start + pairs;
      store<f64>(cell, load<f64>(cell) + factor * load<f64>(v + pairs));
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
