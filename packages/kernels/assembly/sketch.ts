// Blocks of vectors with a short sketch of each, and the sketch of a query. The product of two
// sketches bounds a score at a fraction of its cost.
import { scan } from './row';

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
export const VECTORS: usize = 64;
export const HEAD: usize = 32;
export const SCALES: usize = 4 * VECTORS;
export const TAIL_LENGTHS: usize = 8 * VECTORS;
export const TAIL_SCALES: usize = 12 * VECTORS;
export const HEADS: usize = 16 * VECTORS;
export const TAILS: usize = HEADS + HEAD * VECTORS;
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
