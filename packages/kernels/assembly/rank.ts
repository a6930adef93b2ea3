// Exact searches for the vectors with the best scores.
import { offer } from './heap';
import { HEAD, HEADS, SCALES, TAIL_LENGTHS, TAIL_SCALES, TAILS, VECTORS } from './sketch';
import { laneSums } from './vectors';

const EXCLUDED: u8 = 1;

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
export function score(query: usize, vector: usize, bytes: usize): f32 {
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

/** Marks `count` slots in `skip` so that a search passes them over, or takes the marks back. */
export function exclude(
  slots: usize, count: u32, slotEnd: u32, skip: usize, isExcluded: bool,
): void {
  for (let e: usize = 0; e < <usize>count << 2; e += 4) {
    const slot = load<u32>(slots + e);
    if (slot >= slotEnd) continue;
    const own = load<u8>(skip + slot) & ~EXCLUDED;
    store<u8>(skip + slot, isExcluded ? own | EXCLUDED : own);
  }
}

/** Finds the best slots of a layout for one query, without hidden and excluded ones. */
export function rank(
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
      consider(query, block, at, bytes, tail, ahead, skip, heap);
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
  skip: usize, heap: usize,
): void {
  const slot = load<u32>(block + VECTORS * bytes + (<usize>at << 2));
  if (load<u8>(skip + slot)) return;
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
