// Symmetric k×k matrices in f64, row-major and without padding; vectors are in f64.

/**
 * out += scale · S·v, by columns of S, which are its rows: sums over rows need no adding of lanes.
 * Sixteen columns at a time are enough independent sums to hide latency.
 */
export function symv(scale: f64, s: usize, v: usize, out: usize, k: u32): void {
  const rowBytes = <usize>k << 3;
  const end = v + rowBytes;
  let column: usize = 0;
  for (; column + 128 <= rowBytes; column += 128) {
    let a0 = f64x2.splat(0);
    let a1 = f64x2.splat(0);
    let a2 = f64x2.splat(0);
    let a3 = f64x2.splat(0);
    let a4 = f64x2.splat(0);
    let a5 = f64x2.splat(0);
    let a6 = f64x2.splat(0);
    let a7 = f64x2.splat(0);
    for (let at = v, cells = s + column; at < end; at += 8, cells += rowBytes) {
      const x = v128.load64_splat(at);
      a0 = f64x2.add(a0, f64x2.mul(x, v128.load(cells)));
      a1 = f64x2.add(a1, f64x2.mul(x, v128.load(cells, 16)));
      a2 = f64x2.add(a2, f64x2.mul(x, v128.load(cells, 32)));
      a3 = f64x2.add(a3, f64x2.mul(x, v128.load(cells, 48)));
      a4 = f64x2.add(a4, f64x2.mul(x, v128.load(cells, 64)));
      a5 = f64x2.add(a5, f64x2.mul(x, v128.load(cells, 80)));
      a6 = f64x2.add(a6, f64x2.mul(x, v128.load(cells, 96)));
      a7 = f64x2.add(a7, f64x2.mul(x, v128.load(cells, 112)));
    }
    const target = out + column;
    addScaled(target, scale, a0);
    addScaled(target + 16, scale, a1);
    addScaled(target + 32, scale, a2);
    addScaled(target + 48, scale, a3);
    addScaled(target + 64, scale, a4);
    addScaled(target + 80, scale, a5);
    addScaled(target + 96, scale, a6);
    addScaled(target + 112, scale, a7);
  }
  for (; column + 16 <= rowBytes; column += 16) {
    let sums = f64x2.splat(0);
    for (let at = v, cells = s + column; at < end; at += 8, cells += rowBytes) {
      sums = f64x2.add(sums, f64x2.mul(v128.load64_splat(at), v128.load(cells)));
    }
    addScaled(out + column, scale, sums);
  }
  if (column == rowBytes) return;
  let sum: f64 = 0;
  for (let at = v, cell = s + column; at < end; at += 8, cell += rowBytes) {
    sum += load<f64>(at) * load<f64>(cell);
  }
  store<f64>(out + column, load<f64>(out + column) + scale * sum);
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
  let row: usize = 0;
  // Two rows share the loads of a and b. With an odd k the rows are not aligned to pairs.
  for (; pairs == rowBytes && row < rowBytes; row += 16) {
    const is0 = v128.load64_splat(a + row);
    const is1 = v128.load64_splat(a + row, 8);
    const was0 = v128.load64_splat(b + row);
    const was1 = v128.load64_splat(b + row, 8);
    const next = s + rowBytes;
    for (let at: usize = 0; at < rowBytes; at += 16) {
      const x = v128.load(a + at);
      const y = v128.load(b + at);
      moveCells(s + at, is0, x, was0, y);
      moveCells(next + at, is1, x, was1, y);
    }
    s = next + rowBytes;
  }
  for (; row < rowBytes; row += 8) {
    const is = v128.load64_splat(a + row);
    const was = v128.load64_splat(b + row);
    for (let at: usize = 0; at < pairs; at += 16) {
      moveCells(s + at, is, v128.load(a + at), was, v128.load(b + at));
    }
    const added = load<f64>(a + row) * load<f64>(a + pairs);
    const change = added - load<f64>(b + row) * load<f64>(b + pairs);
    store<f64>(s + pairs, load<f64>(s + pairs) + change);
    s += rowBytes;
  }
}

/** Two cells of S += is·x − was·y */
// @ts-ignore: decorator
@inline
function moveCells(cells: usize, is: v128, x: v128, was: v128, y: v128): void {
  const change = f64x2.sub(f64x2.mul(is, x), f64x2.mul(was, y));
  v128.store(cells, f64x2.add(v128.load(cells), change));
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
function addScaled(cells: usize, scale: f64, sums: v128): void {
  v128.store(cells, f64x2.add(v128.load(cells), f64x2.mul(f64x2.splat(scale), sums)));
}
