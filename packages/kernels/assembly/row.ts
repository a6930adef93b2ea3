// Passes over the vectors of a row or of a block. They take four vectors at a time, so that one
// load of the query or of the sum serves all four. Rows consist of pointers, padded to a multiple
// of four with pointers to a zero vector.
import { addPromoted, dot, laneSums, sumOfDoubles } from './vectors';

/**
 * Writes the address of the vector of each slot, and pads them with `zero` to a multiple of four. A
 * block has 2^shift vectors. Returns the index of the first slot that is not below `slotEnd`, or
 * `length` if there is none.
 */
export function point(
  slots: usize, length: u32, blocks: usize, shift: u32, bytes: usize, slotEnd: u32, zero: usize,
  pointers: usize,
): u32 {
  const mask: u32 = (1 << shift) - 1;
  let e: u32 = 0;
  for (; e < length; e++) {
    const slot = load<u32>(slots + (<usize>e << 2));
    if (slot >= slotEnd) return e;
    const block = load<u32>(blocks + (<usize>(slot >> shift) << 2));
    store<u32>(pointers + (<usize>e << 2), <u32>(block + (slot & mask) * bytes));
  }
  for (; e & 3; e++) store<u32>(pointers + (<usize>e << 2), <u32>zero);
  return length;
}

/**
 * The curvatures a = c(ω − κ) and the pulls b = c(ω·y − κ·p) of ratings r with y = base + slope·r.
 * Values, weights ω and copies c are `room` bytes apart; a and b are `apart`. Padding is 0. Returns
 * Σ c(ω·y² − κ·p²), the value of the row where all its predictions are 0.
 */
export function weigh(
  values: usize, room: usize, length: u32, base: f32, slope: f32, known: f32, prior: f32,
  curvatures: usize, apart: usize,
): f64 {
  const bases = f32x4.splat(base);
  const slopes = f32x4.splat(slope);
  const knowns = f32x4.splat(known);
  const priors = f32x4.splat(prior);
  const end = (<usize>length + 3 & ~3) << 2;
  let constant = f64x2.splat(0);
  for (let at: usize = 0; at < end; at += 16) {
    // Entries beyond the length, which may hold anything, count 0 times.
    const lanes = i32x4.add(i32x4.splat(<i32>(at >> 2)), i32x4(0, 1, 2, 3));
    const isEntry = i32x4.lt_s(lanes, i32x4.splat(<i32>length));
    const r = v128.and(v128.load(values + at), isEntry);
    const weight = v128.and(v128.load(values + room + at), isEntry);
    const copies = v128.and(v128.load(values + 2 * room + at), isEntry);
    const y = f32x4.add(bases, f32x4.mul(slopes, r));
    const pull = f32x4.mul(weight, y);
    const ofPrior = f32x4.mul(knowns, priors);
    const out = curvatures + at;
    v128.store(out, f32x4.mul(copies, f32x4.sub(weight, knowns)));
    v128.store(out + apart, f32x4.mul(copies, f32x4.sub(pull, ofPrior)));
    const missed = f32x4.sub(f32x4.mul(pull, y), f32x4.mul(ofPrior, priors));
    constant = addPromoted(constant, f32x4.mul(copies, missed));
  }
  return sumOfDoubles(constant);
}

/** query·v for four vectors. */
// @ts-ignore: decorator
@inline
function dots(query: usize, p0: usize, p1: usize, p2: usize, p3: usize, bytes: usize): v128 {
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let a2 = f32x4.splat(0);
  let a3 = f32x4.splat(0);
  for (let at: usize = 0; at < bytes; at += 16) {
    const q = v128.load(query + at);
    a0 = f32x4.add(a0, f32x4.mul(q, v128.load(p0 + at)));
    a1 = f32x4.add(a1, f32x4.mul(q, v128.load(p1 + at)));
    a2 = f32x4.add(a2, f32x4.mul(q, v128.load(p2 + at)));
    a3 = f32x4.add(a3, f32x4.mul(q, v128.load(p3 + at)));
  }
  return laneSums<f32>(a0, a1, a2, a3);
}

/** out += Σ c·v over four vectors. */
// @ts-ignore: decorator
@inline
function addScaled(
  c: v128, p0: usize, p1: usize, p2: usize, p3: usize, out: usize, bytes: usize,
): void {
  const c0 = v128.shuffle<f32>(c, c, 0, 0, 0, 0);
  const c1 = v128.shuffle<f32>(c, c, 1, 1, 1, 1);
  const c2 = v128.shuffle<f32>(c, c, 2, 2, 2, 2);
  const c3 = v128.shuffle<f32>(c, c, 3, 3, 3, 3);
  for (let at: usize = 0; at < bytes; at += 16) {
    const low = f32x4.add(f32x4.mul(c0, v128.load(p0 + at)), f32x4.mul(c1, v128.load(p1 + at)));
    const high = f32x4.add(f32x4.mul(c2, v128.load(p2 + at)), f32x4.mul(c3, v128.load(p3 + at)));
    v128.store(out + at, f32x4.add(v128.load(out + at), f32x4.add(low, high)));
  }
}

/** query·v for the four vectors whose pointers begin at `p`. */
// @ts-ignore: decorator
@inline
function dotsAt(query: usize, p: usize, bytes: usize): v128 {
  return dots(query, load<u32>(p), load<u32>(p, 4), load<u32>(p, 8), load<u32>(p, 12), bytes);
}

/** out[e] = query·v */
export function rowDots(query: usize, pointers: usize, end: usize, out: usize, bytes: usize): void {
  for (let at: usize = 0; at < end; at += 16) {
    const p = pointers + at;
    v128.store(out + at, dotsAt(query, p, bytes));
  }
}

/** out += Σ coefficient·v, out in f32 */
export function rowSum(
  coefficients: usize, pointers: usize, end: usize, out: usize, bytes: usize,
): void {
  for (let at: usize = 0; at < end; at += 16) {
    const p = pointers + at;
    const c = v128.load(coefficients + at);
    addScaled(c, load<u32>(p), load<u32>(p, 4), load<u32>(p, 8), load<u32>(p, 12), out, bytes);
  }
}

/** Σ b·x of the last `gradientPass`: a second return value. */
export let pulled: f64 = 0;

/**
 * With x = own·v: out += Σ (b − a·x)·v, which is the row's part of the residual −∇f/2. Returns Σ
 * x(b − a·x).
 */
export function gradientPass(
  own: usize, pointers: usize, curvatures: usize, pulls: usize, end: usize, out: usize,
  bytes: usize,
): f64 {
  let products = f64x2.splat(0);
  let pulling = f64x2.splat(0);
  for (let at: usize = 0; at < end; at += 16) {
    const p = pointers + at;
    const p0 = load<u32>(p);
    const p1 = load<u32>(p, 4);
    const p2 = load<u32>(p, 8);
    const p3 = load<u32>(p, 12);
    const x = dots(own, p0, p1, p2, p3, bytes);
    const b = v128.load(pulls + at);
    const c = f32x4.sub(b, f32x4.mul(v128.load(curvatures + at), x));
    products = addPromoted(products, f32x4.mul(c, x));
    pulling = addPromoted(pulling, f32x4.mul(b, x));
    addScaled(c, p0, p1, p2, p3, out, bytes);
  }
  pulled = sumOfDoubles(pulling);
  return sumOfDoubles(products);
}

/** With y = d·v: out += Σ a·y·v, which is the row's part of A·d. Returns Σ a·y². */
export function curvaturePass(
  direction: usize, pointers: usize, curvatures: usize, end: usize, out: usize, bytes: usize,
): f64 {
  let products = f64x2.splat(0);
  for (let at: usize = 0; at < end; at += 16) {
    const p = pointers + at;
    const p0 = load<u32>(p);
    const p1 = load<u32>(p, 4);
    const p2 = load<u32>(p, 8);
    const p3 = load<u32>(p, 12);
    const y = dots(direction, p0, p1, p2, p3, bytes);
    const c = f32x4.mul(v128.load(curvatures + at), y);
    products = addPromoted(products, f32x4.mul(c, y));
    addScaled(c, p0, p1, p2, p3, out, bytes);
  }
  return sumOfDoubles(products);
}

/** Σ a·(d·v)² without the vector A·d, which the last step of a descent does not need. */
export function curvatureOnly(
  direction: usize, pointers: usize, curvatures: usize, end: usize, bytes: usize,
): f64 {
  let products = f64x2.splat(0);
  for (let at: usize = 0; at < end; at += 16) {
    const p = pointers + at;
    const y = dotsAt(direction, p, bytes);
    const c = f32x4.mul(v128.load(curvatures + at), y);
    products = addPromoted(products, f32x4.mul(c, y));
  }
  return sumOfDoubles(products);
}

/**
 * Σ (v − m)·(t − m) / Σ |v − m|², where t is the mean of the vectors before v, nearer ones counting
 * more, and m is the mean of all `count` vectors. `sum` and `trail` have room for one vector each.
 */
export function rowOrder(
  pointers: usize, count: u32, sum: usize, trail: usize, bytes: usize,
): f64 {
  memory.fill(sum, 0, bytes);
  memory.fill(trail, 0, bytes);
  for (let e: u32 = 0; e < count; e++) {
    const v = load<u32>(pointers + (<usize>e << 2));
    for (let at: usize = 0; at < bytes; at += 16) {
      v128.store(sum + at, f32x4.add(v128.load(sum + at), v128.load(v + at)));
    }
  }
  const share = f32x4.splat(<f32>1 / <f32>count);
  const fade = f32x4.splat(FADE);
  let products = f64x2.splat(0);
  let squares = f64x2.splat(0);
  for (let e: u32 = 0; e < count; e++) {
    const v = load<u32>(pointers + (<usize>e << 2));
    let product = f32x4.splat(0);
    let square = f32x4.splat(0);
    for (let at: usize = 0; at < bytes; at += 16) {
      const x = f32x4.sub(v128.load(v + at), f32x4.mul(v128.load(sum + at), share));
      const before = v128.load(trail + at);
      product = f32x4.add(product, f32x4.mul(x, before));
      square = f32x4.add(square, f32x4.mul(x, x));
      v128.store(trail + at, f32x4.add(f32x4.mul(before, fade), x));
    }
    products = addPromoted(products, product);
    squares = addPromoted(squares, square);
  }
  const spread = sumOfDoubles(squares);
  const ofMean = dot(sum, sum, bytes) / count;
  return spread > ALIKE * (spread + ofMean) ? (1 - FADE) * sumOfDoubles(products) / spread : 0;
}

/** What a vector still counts in a trail after one more. */
const FADE: f32 = 0.8;

/** Vectors whose spread is below this share of their squares differ only by rounding errors. */
const ALIKE: f64 = 1e-5;

/** out[i] = query·v for `count` consecutive vectors; `out` has room for a multiple of 4. */
export function scan(query: usize, start: usize, count: u32, out: usize, bytes: usize): void {
  for (let done: u32 = 0; done < count; done += 4) {
    const p0 = start + done * bytes;
    // The last group reads the last vector again instead of reading past the block.
    const p1 = p0 + select<usize>(bytes, 0, done + 1 < count);
    const p2 = p1 + select<usize>(bytes, 0, done + 2 < count);
    const p3 = p2 + select<usize>(bytes, 0, done + 3 < count);
    v128.store(out + (<usize>done << 2), dots(query, p0, p1, p2, p3, bytes));
  }
}
