// Exact best-of scans over blocks of vectors, for one query or four at a time.
//
// A heap, one for each query: filled u32 · room u32 · threshold f32 · dropped f32 · room scores f32 · room
// slots u32. The worst kept score is at the root; `threshold` is that score once the heap is full and −∞
// before; `dropped` is the best score that found no room, by which a tie at the end of the list is noticed.
import { laneSums } from './vectors';

const HIDDEN: u32 = 0x80;

// @ts-ignore: decorator
@inline
function scoreAt(heap: usize, at: u32): f32 {
  return load<f32>(heap + 16 + (<usize>at << 2));
}

// @ts-ignore: decorator
@inline
function put(heap: usize, room: u32, at: u32, score: f32, slot: u32): void {
  store<f32>(heap + 16 + (<usize>at << 2), score);
  store<u32>(heap + 16 + (<usize>(room + at) << 2), slot);
}

// @ts-ignore: decorator
@inline
function slotAt(heap: usize, room: u32, at: u32): u32 {
  return load<u32>(heap + 16 + (<usize>(room + at) << 2));
}

/** Called with a score not below the threshold. */
function offer(heap: usize, score: f32, slot: u32): void {
  let filled = load<u32>(heap);
  const room = load<u32>(heap, 4);
  if (filled < room) {
    let at = filled++;
    store<u32>(heap, filled);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = scoreAt(heap, parent);
      if (above <= score) break;
      put(heap, room, at, above, slotAt(heap, room, parent));
      at = parent;
    }
    put(heap, room, at, score, slot);
    if (filled == room) store<f32>(heap, scoreAt(heap, 0), 8);
    return;
  }
  const worst = scoreAt(heap, 0);
  store<f32>(heap, max<f32>(load<f32>(heap, 12), min<f32>(worst, score)), 12);
  if (!(score > worst)) return;
  let at: u32 = 0;
  for (let child: u32 = 1; child < room; child = 2 * at + 1) {
    if (child + 1 < room && scoreAt(heap, child + 1) < scoreAt(heap, child)) child++;
    const below = scoreAt(heap, child);
    if (below >= score) break;
    put(heap, room, at, below, slotAt(heap, room, child));
    at = child;
  }
  put(heap, room, at, score, slot);
  store<f32>(heap, scoreAt(heap, 0), 8);
}

/**
 * A block: 64 vectors of f32, then their slots u32, their scales f32, their sketches of i8, and the box they lie in:
 * the least and the most that one of them goes along each guide (`along` bytes each, a multiple of 16), and the
 * longest that is left of one beside the guides. A vector is its scale times its sketch, within half a scale in each factor.
 *
 * A query: the vector in f32, the same in i16 (`wide` bytes, a multiple of 32), then f32: its own scale, its
 * allowance, its slack, the length of what is left of it beside the guides, and how far it goes along each guide.
 * scale(v) · (scale(q) · Σ of integers + allowance) is never below the score, nor is what `mostIn` says of the block.
 */
const VECTORS: usize = 64;

// @ts-ignore: decorator
@inline
function integerSums(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = i32x4.add(
    v128.shuffle<i32>(a, b, 0, 1, 4, 5),
    v128.shuffle<i32>(a, b, 2, 3, 6, 7),
  );
  const cd = i32x4.add(
    v128.shuffle<i32>(c, d, 0, 1, 4, 5),
    v128.shuffle<i32>(c, d, 2, 3, 6, 7),
  );
  return i32x4.add(
    v128.shuffle<i32>(ab, cd, 0, 2, 4, 6),
    v128.shuffle<i32>(ab, cd, 1, 3, 5, 7),
  );
}

// @ts-ignore: decorator
@inline
function product(low: v128, high: v128, sketch: v128): v128 {
  return i32x4.add(
    i32x4.dot_i16x8_s(low, i16x8.extend_low_i8x16_s(sketch)),
    i32x4.dot_i16x8_s(high, i16x8.extend_high_i8x16_s(sketch)),
  );
}

/** As the scan of a table adds it up, to the bit. */
function score(query: usize, vector: usize, bytes: usize): f32 {
  const zero = f32x4.splat(0);
  let sum = zero;
  for (let at: usize = 0; at < bytes; at += 16) {
    sum = f32x4.add(sum, f32x4.mul(v128.load(query + at), v128.load(vector + at)));
  }
  return f32x4.extract_lane(laneSums(sum, zero, zero, zero), 0);
}

/** No vector in the box scores more: along the guides at one of its ends, beside them by Cauchy–Schwarz. */
// @ts-ignore: decorator
@inline
function mostIn(box: usize, along: usize, tail: usize): f32 {
  const zero = f32x4.splat(0);
  let sum = zero;
  for (let at: usize = 0; at < along; at += 16) {
    const own = v128.load(tail + at, 16);
    const least = f32x4.mul(own, v128.load(box + at));
    sum = f32x4.add(sum, f32x4.max(least, f32x4.mul(own, v128.load(box + along + at))));
  }
  const beside = load<f32>(tail, 12) * load<f32>(box + 2 * along);
  return f32x4.extract_lane(laneSums(sum, zero, zero, zero), 0) + beside + load<f32>(tail, 8);
}

/** Offers the vectors of one block to one query, leaving out slots that are hidden or have the first bit. */
export function rankOne(
  query: usize, block: usize, count: u32, bytes: usize, wide: usize, along: usize, heap: usize, skip: usize,
): void {
  const integers = query + bytes;
  const width = wide >> 1;
  const slots = block + VECTORS * bytes;
  const scales = slots + 4 * VECTORS;
  const sketches = scales + 4 * VECTORS;
  // Asked this way round, a bound that overflowed counts as hopeful.
  if (mostIn(sketches + VECTORS * width, along, integers + wide) < load<f32>(heap, 8)) return;
  const ownScale = v128.load32_splat(integers + wide);
  const allowance = v128.load32_splat(integers + wide + 4);
  let threshold = v128.load32_splat(heap + 8);
  for (let done: u32 = 0; done < count; done += 4) {
    const p0 = sketches + done * width;
    const p1 = p0 + width;
    const p2 = p1 + width;
    const p3 = p2 + width;
    let a0 = i32x4.splat(0);
    let a1 = i32x4.splat(0);
    let a2 = i32x4.splat(0);
    let a3 = i32x4.splat(0);
    for (let at: usize = 0; at < width; at += 16) {
      const low = v128.load(integers + 2 * at);
      const high = v128.load(integers + 2 * at, 16);
      a0 = i32x4.add(a0, product(low, high, v128.load(p0 + at)));
      a1 = i32x4.add(a1, product(low, high, v128.load(p1 + at)));
      a2 = i32x4.add(a2, product(low, high, v128.load(p2 + at)));
      a3 = i32x4.add(a3, product(low, high, v128.load(p3 + at)));
    }
    const sums = f32x4.convert_i32x4_s(integerSums(a0, a1, a2, a3));
    const bounds = f32x4.mul(
      v128.load(scales + (<usize>done << 2)),
      f32x4.add(f32x4.mul(sums, ownScale), allowance),
    );
    const hopeless = i32x4.bitmask(f32x4.lt(bounds, threshold));
    if (hopeless == 15) continue;
    for (let lane: u32 = 0; lane < 4; lane++) {
      if ((hopeless >> lane) & 1) continue;
      consider(query, block, done + lane, count, bytes, skip, HIDDEN | 1, heap);
    }
    threshold = v128.load32_splat(heap + 8);
  }
}

function consider(
  query: usize, block: usize, at: u32, count: u32, bytes: usize, skip: usize, mask: u32, heap: usize,
): void {
  if (at >= count) return;
  const slot = load<u32>(block + VECTORS * bytes + (<usize>at << 2));
  if (load<u8>(skip + slot) & mask) return;
  const found = score(query, block + at * bytes, bytes);
  if (found >= load<f32>(heap, 8)) offer(heap, found, slot);
}

/** The same for four queries that lie `apart` bytes from each other; each has its own bit. */
export function rankFour(
  queries: usize, apart: usize, block: usize, count: u32, bytes: usize, wide: usize, along: usize,
  h0: usize, h1: usize, h2: usize, h3: usize, skip: usize,
): void {
  const q0 = queries + bytes;
  const q1 = q0 + apart;
  const q2 = q1 + apart;
  const q3 = q2 + apart;
  const width = wide >> 1;
  const scales = block + VECTORS * (bytes + 4);
  const sketches = scales + 4 * VECTORS;
  const ownScales = gather(q0 + wide, q1 + wide, q2 + wide, q3 + wide);
  const allowances = gather(q0 + wide + 4, q1 + wide + 4, q2 + wide + 4, q3 + wide + 4);
  let limits = gather(h0 + 8, h1 + 8, h2 + 8, h3 + 8);
  const box = sketches + VECTORS * width;
  let most = f32x4.splat(mostIn(box, along, q0 + wide));
  most = f32x4.replace_lane(most, 1, mostIn(box, along, q1 + wide));
  most = f32x4.replace_lane(most, 2, mostIn(box, along, q2 + wide));
  most = f32x4.replace_lane(most, 3, mostIn(box, along, q3 + wide));
  if (i32x4.bitmask(f32x4.lt(most, limits)) == 15) return;
  for (let done: u32 = 0; done < count; done++) {
    const p = sketches + done * width;
    let a0 = i32x4.splat(0);
    let a1 = i32x4.splat(0);
    let a2 = i32x4.splat(0);
    let a3 = i32x4.splat(0);
    for (let at: usize = 0; at < width; at += 16) {
      const sketch = v128.load(p + at);
      const low = i16x8.extend_low_i8x16_s(sketch);
      const high = i16x8.extend_high_i8x16_s(sketch);
      const x = 2 * at;
      a0 = i32x4.add(a0, i32x4.dot_i16x8_s(low, v128.load(q0 + x)));
      a1 = i32x4.add(a1, i32x4.dot_i16x8_s(low, v128.load(q1 + x)));
      a2 = i32x4.add(a2, i32x4.dot_i16x8_s(low, v128.load(q2 + x)));
      a3 = i32x4.add(a3, i32x4.dot_i16x8_s(low, v128.load(q3 + x)));
      a0 = i32x4.add(a0, i32x4.dot_i16x8_s(high, v128.load(q0 + x, 16)));
      a1 = i32x4.add(a1, i32x4.dot_i16x8_s(high, v128.load(q1 + x, 16)));
      a2 = i32x4.add(a2, i32x4.dot_i16x8_s(high, v128.load(q2 + x, 16)));
      a3 = i32x4.add(a3, i32x4.dot_i16x8_s(high, v128.load(q3 + x, 16)));
    }
    const sums = f32x4.convert_i32x4_s(integerSums(a0, a1, a2, a3));
    const scale = v128.load32_splat(scales + (<usize>done << 2));
    const bounds = f32x4.mul(scale, f32x4.add(f32x4.mul(sums, ownScales), allowances));
    const hopeless = i32x4.bitmask(f32x4.lt(bounds, limits));
    if (hopeless == 15) continue;
    if (!(hopeless & 1)) consider(queries, block, done, count, bytes, skip, HIDDEN | 1, h0);
    if (!(hopeless & 2)) consider(queries + apart, block, done, count, bytes, skip, HIDDEN | 2, h1);
    if (!(hopeless & 4)) consider(queries + 2 * apart, block, done, count, bytes, skip, HIDDEN | 4, h2);
    if (!(hopeless & 8)) consider(queries + 3 * apart, block, done, count, bytes, skip, HIDDEN | 8, h3);
    limits = gather(h0 + 8, h1 + 8, h2 + 8, h3 + 8);
  }
}

// @ts-ignore: decorator
@inline
function gather(a: usize, b: usize, c: usize, d: usize): v128 {
  let found = v128.load32_splat(a);
  found = f32x4.replace_lane(found, 1, load<f32>(b));
  found = f32x4.replace_lane(found, 2, load<f32>(c));
  return f32x4.replace_lane(found, 3, load<f32>(d));
}
