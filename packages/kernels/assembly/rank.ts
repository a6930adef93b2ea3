// Exact scans of blocks of vectors for those with the best scores, for one query or for four at a
// time.
//
// Each query has a heap: filled u32 · room u32 · threshold f32 · dropped f32 · scores, room × f32 ·
// slots, room × u32. The worst score of the list is at the root. `threshold` is that score once the
// heap is full, and −∞ before. `dropped` is the best score that did not fit: if it equals the worst
// score of the list, there is a tie.
import { scan } from './row';
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

/** Adds a score that is not below the threshold. */
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
  sink(heap, room, room, score, slot);
  store<f32>(heap, scoreAt(heap, 0), 8);
}

/** Replaces the root of a heap of `filled` scores. */
// @ts-ignore: decorator
@inline
function sink(heap: usize, room: u32, filled: u32, score: f32, slot: u32): void {
  let at: u32 = 0;
  for (let child: u32 = 1; child < filled; child = 2 * at + 1) {
    if (child + 1 < filled && scoreAt(heap, child + 1) < scoreAt(heap, child)) child++;
    const below = scoreAt(heap, child);
    if (below >= score) break;
    put(heap, room, at, below, slotAt(heap, room, child));
    at = child;
  }
  put(heap, room, at, score, slot);
}

/** Sorts the contents of a heap, best first. Afterwards it is no longer a heap. */
export function order(heap: usize): void {
  const room = load<u32>(heap, 4);
  for (let left = load<u32>(heap); left > 1; left--) {
    const last = left - 1;
    const score = scoreAt(heap, last);
    const slot = slotAt(heap, room, last);
    put(heap, room, last, scoreAt(heap, 0), slotAt(heap, room, 0));
    sink(heap, room, last, score, slot);
  }
}

/**
 * A block holds 64 vectors in f32 and their slots in u32. Then come four f32 figures of each
 * transform v' (see balanced-basis.ts): the first coordinate, the scale of the head, the length of
 * the tail and the scale of the tail. Last come the heads and the tails in i8. The head is
 * coordinates 1 to 32 and the tail all further ones; a coordinate is its integer times the scale,
 * with an error of at most half a scale.
 *
 * A directory has 16 bytes for each class of a layout, longest first: the address of a list of the
 * addresses of its blocks, which are all full except the last; the number of its vectors; an upper
 * bound of their lengths, f32; padding.
 *
 * A query is the vector in f32, then head and tail of its transform in i16 (2 × `tail` bytes for
 * the tail), then nine f32: the same four figures as above; the largest effect of rounding to
 * integers in the head and in the tail; the length of the transform; and the slack for all other
 * rounding, per unit of a vector's length and constant.
 */
const VECTORS: usize = 64;
const HEAD: usize = 32;
const SCALES: usize = 4 * VECTORS;
const TAIL_LENGTHS: usize = 8 * VECTORS;
const TAIL_SCALES: usize = 12 * VECTORS;
const HEADS: usize = 16 * VECTORS;
const TAILS: usize = HEADS + HEAD * VECTORS;
/** Four-byte values stored for each vector: its slot and four figures. */
const ROWS: usize = 5;

/** Queries are scaled to ±32,000: the sum of 256 products with a sketch then fits in 32 bits. */
const QUERY_MAX: f64 = 32_000;
const EPSILON: f64 = 1.1920928955078125e-7;
/** Rounding errors made while a bound itself is computed, as a multiple of EPSILON. */
const ROUNDINGS: f64 = 32;
const SKETCH_MAX: f32 = 127;
const LEAST_SKETCHED: f32 = 1e-30;
/** Ensures that a length does not become smaller when it is rounded to single precision. */
const ROUNDED_UP: f64 = 1.0000003;

/** Stores a vector and its transform at index `at` of a block. */
export function layIn(
  vector: usize, transformed: usize, k: u32, block: usize, at: u32, bytes: usize, tail: usize,
): void {
  memory.copy(block + at * bytes, vector, bytes);
  const leads = block + VECTORS * (bytes + 4);
  const own = leads + (<usize>at << 2);
  const inHead = min<u32>(k - 1, <u32>HEAD);
  const inTail = k - 1 - inHead;
  const head = transformed + 4;
  const ofTail = head + 4 * HEAD;
  const scale = scaleOf(head, inHead);
  const tailScale = scaleOf(ofTail, inTail);
  store<f32>(own, load<f32>(transformed));
  store<f32>(own, scale, SCALES);
  store<f32>(own, lengthOf(ofTail, inTail), TAIL_LENGTHS);
  store<f32>(own, tailScale, TAIL_SCALES);
  sketch(head, inHead, scale, leads + HEADS + at * HEAD, HEAD);
  sketch(ofTail, inTail, tailScale, leads + TAILS + at * tail, tail);
}

/**
 * Transforms a query by B and writes the sketch and the figures of the result behind the query.
 * `stretch` is the Frobenius norm of B, and `lengths` has the norms of the rows of A in f64. They
 * bound the difference between q'·v' and q·v as computed: both transforms and the score round at
 * most k/4 + 4 times, and |v| ≤ ‖B‖·|v'|.
 */
export function transformQuery(
  query: usize, basis: usize, lengths: usize, stretch: f64, k: u32, bytes: usize, tail: usize,
  transformed: usize,
): void {
  scan(query, basis, k, transformed, bytes);
  const integers = query + bytes;
  const own = integers + 2 * (HEAD + tail);
  const inHead = min<u32>(k - 1, <u32>HEAD);
  const inTail = k - 1 - inHead;
  const head = transformed + 4;
  const ofTail = head + 4 * HEAD;
  const scale = sketchQuery(head, inHead, integers, HEAD);
  const tailScale = sketchQuery(ofTail, inTail, integers + 2 * HEAD, tail);
  const length = lengthOf(transformed, k);
  let stretched: f64 = 2 * <f64>lengthOf(query, k);
  for (let f: u32 = 0; f < k; f++) {
    const at = <usize>f << 2;
    stretched += <f64>abs<f32>(load<f32>(transformed + at)) * load<f64>(lengths + 2 * at);
  }
  const roundings = (<f64>k / 4 + 8) * stretch * stretched + ROUNDINGS * <f64>length;
  store<f32>(own, load<f32>(transformed));
  store<f32>(own, scale, 4);
  store<f32>(own, lengthOf(ofTail, inTail), 8);
  store<f32>(own, tailScale, 12);
  store<f32>(own, allowance(head, inHead, scale), 16);
  store<f32>(own, allowance(ofTail, inTail, tailScale), 20);
  store<f32>(own, length, 24);
  store<f32>(own, <f32>(EPSILON * roundings) + LEAST_SKETCHED, 28);
  store<f32>(own, LEAST_SKETCHED * (1 + length), 32);
}

/** Writes i16 integers, padded with zeros to `width`. Returns their scale; 0 if too small. */
function sketchQuery(from: usize, count: u32, to: usize, width: usize): f32 {
  let largest: f32 = 0;
  for (let f: u32 = 0; f < count; f++) {
    largest = max<f32>(largest, abs<f32>(load<f32>(from + (<usize>f << 2))));
  }
  const scale: f32 = largest > LEAST_SKETCHED ? <f32>(<f64>largest / QUERY_MAX) : 0;
  memory.fill(to, 0, 2 * width);
  if (scale == 0) return 0;
  for (let f: u32 = 0; f < count; f++) {
    const at = <usize>f << 1;
    store<i16>(to + at, <i16>nearest<f64>(<f64>load<f32>(from + 2 * at) / <f64>scale));
  }
  return scale;
}

/**
 * By how much, in units of the sketch's scale, the product of the integers may be too small: half a
 * step of the sketch and half a step of the query in each coordinate, plus rounding. For a query
 * too small to scale, the whole product.
 */
function allowance(from: usize, count: u32, scale: f32): f32 {
  let sum: f64 = 0;
  for (let f: u32 = 0; f < count; f++) sum += <f64>abs<f32>(load<f32>(from + (<usize>f << 2)));
  const halfSteps = sum / 2 + (<f64>scale / 2) * <f64>SKETCH_MAX * <f64>count;
  const rounding = <f64>(count + 32) * EPSILON * sum * <f64>SKETCH_MAX;
  const whole = scale > 0 ? 0 : sum * <f64>SKETCH_MAX;
  return <f32>((halfSteps + rounding + whole) * (1 + 4 * EPSILON)) + LEAST_SKETCHED;
}

/** Copies a vector with its slot, figures and sketch to another place. */
export function moveIn(
  source: usize, from: u32, target: usize, to: u32, bytes: usize, tail: usize,
): void {
  memory.copy(target + to * bytes, source + from * bytes, bytes);
  const origin = source + VECTORS * bytes;
  const goal = target + VECTORS * bytes;
  for (let row: usize = 0; row < ROWS; row++) {
    const at = 4 * VECTORS * row;
    store<u32>(goal + at + (<usize>to << 2), load<u32>(origin + at + (<usize>from << 2)));
  }
  const ahead = 4 * VECTORS;
  memory.copy(goal + ahead + HEADS + to * HEAD, origin + ahead + HEADS + from * HEAD, HEAD);
  memory.copy(goal + ahead + TAILS + to * tail, origin + ahead + TAILS + from * tail, tail);
}

function lengthOf(from: usize, count: u32): f32 {
  let square: f64 = 0;
  for (let f: u32 = 0; f < count; f++) {
    const x = <f64>load<f32>(from + (<usize>f << 2));
    square += x * x;
  }
  return <f32>(Math.sqrt(square) * ROUNDED_UP);
}

/** The scale of a sketch: a coordinate is its integer times this. */
function scaleOf(from: usize, count: u32): f32 {
  let largest: f32 = 0;
  for (let f: u32 = 0; f < count; f++) {
    largest = max<f32>(largest, abs<f32>(load<f32>(from + (<usize>f << 2))));
  }
  if (largest > LEAST_SKETCHED && largest < f32.MAX_VALUE) return largest / SKETCH_MAX;
  // Too small to divide by, or not finite: the integers are 0, and the allowance alone covers the
  // whole product.
  return 2 * lengthOf(from, count) + LEAST_SKETCHED;
}

/** Writes i8 integers and pads with zeros to `width`. */
function sketch(from: usize, count: u32, scale: f32, to: usize, width: usize): void {
  memory.fill(to, 0, width);
  for (let f: u32 = 0; f < count; f++) {
    store<i8>(to + f, <i8>nearest<f32>(load<f32>(from + (<usize>f << 2)) / scale));
  }
}

/** The product of 16 integers of a sketch and 16 integers of a query. */
// @ts-ignore: decorator
@inline
function product(low: v128, high: v128, sketch: usize): v128 {
  return i32x4.add(
    i32x4.dot_i16x8_s(low, v128.load_ext<i8>(sketch)),
    i32x4.dot_i16x8_s(high, v128.load_ext<i8>(sketch, 8)),
  );
}

/** The score, computed in the same order as `scan` does, so that both are equal bit for bit. */
function score(query: usize, vector: usize, bytes: usize): f32 {
  const zero = f32x4.splat(0);
  let sum = zero;
  for (let at: usize = 0; at < bytes; at += 16) {
    sum = f32x4.add(sum, f32x4.mul(v128.load(query + at), v128.load(vector + at)));
  }
  return f32x4.extract_lane(laneSums<f32>(sum, zero, zero, zero), 0);
}

/** Upper bounds scale · (sum · scale of the query + allowance), four at once. */
// @ts-ignore: decorator
@inline
function mostOf(sums: v128, scale: v128, ownScale: v128, allowance: v128): v128 {
  const product = f32x4.mul(f32x4.convert_i32x4_s(sums), ownScale);
  return f32x4.mul(scale, f32x4.add(product, allowance));
}

// @ts-ignore: decorator
@inline
function headProduct(q0: v128, q1: v128, q2: v128, q3: v128, head: usize): v128 {
  return i32x4.add(product(q0, q1, head), product(q2, q3, head + 16));
}

/** Finds the best slots of a layout for one query, without hidden and excluded ones. */
export function rankOne(
  query: usize, directory: usize, classes: u32, bytes: usize, tail: usize, heap: usize, skip: usize,
): void {
  const own = query + bytes + 2 * (HEAD + tail);
  for (let end = directory + (<usize>classes << 4); directory < end; directory += 16) {
    const count = load<u32>(directory, 4);
    if (count == 0) continue;
    const longest = load<f32>(directory, 8);
    const slack = load<f32>(own, 28) * longest + load<f32>(own, 32);
    // With this comparison, a bound that overflowed to NaN does not end the search.
    if (load<f32>(own, 24) * longest + slack < load<f32>(heap, 8)) return;
    rankClass(query, load<u32>(directory), count, bytes, tail, slack, heap, skip);
  }
}

function rankClass(
  query: usize, list: usize, count: u32, bytes: usize, tail: usize, rounding: f32, heap: usize,
  skip: usize,
): void {
  const q0 = v128.load(query + bytes);
  const q1 = v128.load(query + bytes, 16);
  const q2 = v128.load(query + bytes, 32);
  const q3 = v128.load(query + bytes, 48);
  const own = query + bytes + 2 * (HEAD + tail);
  const ownLead = v128.load32_splat(own);
  const ownScale = v128.load32_splat(own + 4);
  const tailLength = v128.load32_splat(own + 8);
  const allowance = v128.load32_splat(own + 16);
  const slack = f32x4.splat(rounding);
  for (let left = <i32>count; left > 0; left -= <i32>VECTORS, list += 4) {
    const block = <usize>load<u32>(list);
    const leads = block + VECTORS * (bytes + 4);
    const here = min<i32>(left, <i32>VECTORS);
    const threshold = v128.load32_splat(heap + 8);
    let hopeful: u64 = 0;
    for (let done: i32 = 0; done < here; done += 4) {
      const p = leads + HEADS + done * HEAD;
      const sums = laneSums<i32>(
        headProduct(q0, q1, q2, q3, p),
        headProduct(q0, q1, q2, q3, p + HEAD),
        headProduct(q0, q1, q2, q3, p + 2 * HEAD),
        headProduct(q0, q1, q2, q3, p + 3 * HEAD),
      );
      const four = leads + (<usize>done << 2);
      const head = mostOf(sums, v128.load(four, SCALES), ownScale, allowance);
      const behind = f32x4.mul(tailLength, v128.load(four, TAIL_LENGTHS));
      const lead = f32x4.add(f32x4.mul(ownLead, v128.load(four)), slack);
      const bounds = f32x4.add(f32x4.add(lead, head), behind);
      hopeful |= <u64>(i32x4.bitmask(f32x4.lt(bounds, threshold)) ^ 15) << done;
    }
    // Behind the last vector lies what was there before.
    if (here < 64) hopeful &= (<u64>1 << here) - 1;
    for (; hopeful != 0; hopeful &= hopeful - 1) {
      const at = <u32>ctz<u64>(hopeful);
      const one = leads + (<usize>at << 2);
      const ofHead = partProduct(query + bytes, leads + HEADS + at * HEAD, HEAD);
      const ahead =
        load<f32>(one) * load<f32>(own) + rounding +
        load<f32>(one, SCALES) * (ofHead * load<f32>(own, 4) + load<f32>(own, 16));
      consider(query, block, at, bytes, tail, ahead, skip, HIDDEN | 1, heap);
    }
  }
}

// @ts-ignore: decorator
@inline
function total(sum: v128): f32 {
  const zero = i32x4.splat(0);
  return <f32>i32x4.extract_lane(laneSums<i32>(sum, zero, zero, zero), 0);
}

/** The product of the head or tail of a query and that of a sketch. */
// @ts-ignore: decorator
@inline
function partProduct(integers: usize, sketch: usize, width: usize): f32 {
  let sum = i32x4.splat(0);
  for (let f: usize = 0; f < width; f += 16) {
    const x = integers + 2 * f;
    sum = i32x4.add(sum, product(v128.load(x), v128.load(x, 16), sketch + f));
  }
  return total(sum);
}

/** Adds the bound of the tail to `ahead`, and computes the score only if that is high enough. */
function consider(
  query: usize, block: usize, at: u32, bytes: usize, tail: usize, ahead: f32,
  skip: usize, mask: u32, heap: usize,
): void {
  const slot = load<u32>(block + VECTORS * bytes + (<usize>at << 2));
  if (load<u8>(skip + slot) & mask) return;
  const leads = block + VECTORS * (bytes + 4);
  const one = leads + (<usize>at << 2);
  const integers = query + bytes + 2 * HEAD;
  const own = integers + 2 * tail;
  const ofTail = partProduct(integers, leads + TAILS + at * tail, tail);
  const behind = load<f32>(one, TAIL_SCALES) * (ofTail * load<f32>(own, 12) + load<f32>(own, 20));
  if (ahead + behind < load<f32>(heap, 8)) return;
  const found = score(query, block + at * bytes, bytes);
  if (found >= load<f32>(heap, 8)) offer(heap, found, slot);
}

/** The same for four queries, `apart` bytes from each other. Each query has its own bit. */
export function rankFour(
  queries: usize, apart: usize, directory: usize, classes: u32, bytes: usize, tail: usize,
  h0: usize, h1: usize, h2: usize, h3: usize, skip: usize,
): void {
  const own = queries + bytes + 2 * (HEAD + tail);
  const lengths = fourOf(own + 24, apart);
  const roundings = fourOf(own + 28, apart);
  const least = fourOf(own + 32, apart);
  for (let end = directory + (<usize>classes << 4); directory < end; directory += 16) {
    const count = load<u32>(directory, 4);
    if (count == 0) continue;
    const longest = v128.load32_splat(directory + 8);
    const slacks = f32x4.add(f32x4.mul(roundings, longest), least);
    const most = f32x4.add(f32x4.mul(lengths, longest), slacks);
    if (i32x4.bitmask(f32x4.lt(most, gather(h0 + 8, h1 + 8, h2 + 8, h3 + 8))) == 15) return;
    const list = load<u32>(directory);
    rankClassFour(queries, apart, list, count, bytes, tail, slacks, h0, h1, h2, h3, skip);
  }
}

function rankClassFour(
  queries: usize, apart: usize, list: usize, count: u32, bytes: usize, tail: usize, slacks: v128,
  h0: usize, h1: usize, h2: usize, h3: usize, skip: usize,
): void {
  const q0 = queries + bytes;
  const q1 = q0 + apart;
  const q2 = q1 + apart;
  const q3 = q2 + apart;
  const own = q0 + 2 * (HEAD + tail);
  const ownLeads = fourOf(own, apart);
  const ownScales = fourOf(own + 4, apart);
  const tailLengths = fourOf(own + 8, apart);
  const allowances = fourOf(own + 16, apart);
  let limits = gather(h0 + 8, h1 + 8, h2 + 8, h3 + 8);
  for (let left = <i32>count; left > 0; left -= <i32>VECTORS, list += 4) {
    const block = <usize>load<u32>(list);
    const leads = block + VECTORS * (bytes + 4);
    const here = <u32>min<i32>(left, <i32>VECTORS);
    for (let done: u32 = 0; done < here; done++) {
      const p = leads + HEADS + done * HEAD;
      let a0 = i32x4.splat(0);
      let a1 = i32x4.splat(0);
      let a2 = i32x4.splat(0);
      let a3 = i32x4.splat(0);
      for (let at: usize = 0; at < HEAD; at += 8) {
        const sketch = v128.load_ext<i8>(p + at);
        a0 = i32x4.add(a0, i32x4.dot_i16x8_s(sketch, v128.load(q0 + 2 * at)));
        a1 = i32x4.add(a1, i32x4.dot_i16x8_s(sketch, v128.load(q1 + 2 * at)));
        a2 = i32x4.add(a2, i32x4.dot_i16x8_s(sketch, v128.load(q2 + 2 * at)));
        a3 = i32x4.add(a3, i32x4.dot_i16x8_s(sketch, v128.load(q3 + 2 * at)));
      }
      const one = leads + (<usize>done << 2);
      const sums = laneSums<i32>(a0, a1, a2, a3);
      const head = mostOf(sums, v128.load32_splat(one + SCALES), ownScales, allowances);
      const behind = f32x4.mul(tailLengths, v128.load32_splat(one + TAIL_LENGTHS));
      const lead = f32x4.add(f32x4.mul(ownLeads, v128.load32_splat(one)), slacks);
      const ahead = f32x4.add(lead, head);
      const hopeless = i32x4.bitmask(f32x4.lt(f32x4.add(ahead, behind), limits));
      if (hopeless == 15) continue;
      if (!(hopeless & 1)) {
        const bound = f32x4.extract_lane(ahead, 0);
        consider(queries, block, done, bytes, tail, bound, skip, HIDDEN | 1, h0);
      }
      if (!(hopeless & 2)) {
        const bound = f32x4.extract_lane(ahead, 1);
        consider(queries + apart, block, done, bytes, tail, bound, skip, HIDDEN | 2, h1);
      }
      if (!(hopeless & 4)) {
        const bound = f32x4.extract_lane(ahead, 2);
        consider(queries + 2 * apart, block, done, bytes, tail, bound, skip, HIDDEN | 4, h2);
      }
      if (!(hopeless & 8)) {
        const bound = f32x4.extract_lane(ahead, 3);
        consider(queries + 3 * apart, block, done, bytes, tail, bound, skip, HIDDEN | 8, h3);
      }
      limits = gather(h0 + 8, h1 + 8, h2 + 8, h3 + 8);
    }
  }
}

// @ts-ignore: decorator
@inline
function fourOf(first: usize, apart: usize): v128 {
  return gather(first, first + apart, first + 2 * apart, first + 3 * apart);
}

// @ts-ignore: decorator
@inline
function gather(a: usize, b: usize, c: usize, d: usize): v128 {
  let found = v128.load32_splat(a);
  found = f32x4.replace_lane(found, 1, load<f32>(b));
  found = f32x4.replace_lane(found, 2, load<f32>(c));
  return f32x4.replace_lane(found, 3, load<f32>(d));
}
