// The part of a search that raises the scores of the slots of a few weighted lists.
import { slotAt } from './heap';
import { score } from './rank';

const SLOT_MASK: u32 = 0xffffff;
const STAMP_SHIFT: u32 = 24;
/** Marks a slot in `skip` that the search has found. */
const FOUND: u8 = 2;

/**
 * Adds scale · weight to the sum of each slot of a list. The slots that had no sum are appended to
 * `slots`, which had `found` of them. Returns their number.
 */
export function gather(
  numbers: usize, weights: usize, length: u32, scale: f64, stamps: usize, sums: usize,
  slots: usize, found: u32,
): u32 {
  for (let e: usize = 0; e < <usize>length << 2; e += 4) {
    const number = load<u32>(numbers + e);
    const slot = number & SLOT_MASK;
    if (number >> STAMP_SHIFT != <u32>load<u8>(stamps + slot)) continue;
    const sum = sums + (<usize>slot << 2);
    const before = load<f32>(sum);
    if (before == 0) {
      store<u32>(slots + (<usize>found << 2), slot);
      found++;
    }
    store<f32>(sum, <f32>(<f64>before + scale * <f64>load<f32>(weights + e)));
  }
  return found;
}

/** Sets the sums of `count` slots to 0. */
export function forget(slots: usize, count: u32, sums: usize): void {
  for (let e: usize = 0; e < <usize>count << 2; e += 4) {
    store<f32>(sums + (<usize>load<u32>(slots + e) << 2), 0);
  }
}

/**
 * Scores those of `slots` that have a sum of at least `least` and that the search may find but has
 * not found; `heap` has what it has found. Writes the slots and the scores. Returns their number.
 */
export function scoreOthers(
  query: usize, bytes: usize, addresses: usize, slotEnd: u32, slots: usize, sums: usize,
  count: u32, least: f32, skip: usize, heap: usize, others: usize, scores: usize,
): u32 {
  const found = load<u32>(heap);
  const room = load<u32>(heap, 4);
  for (let at: u32 = 0; at < found; at++) store<u8>(skip + slotAt(heap, room, at), FOUND);
  let kept: usize = 0;
  for (let e: u32 = 0; e < count; e++) {
    const slot = load<u32>(slots + (<usize>e << 2));
    if (!(load<f32>(sums + (<usize>slot << 2)) >= least)) continue;
    if (slot >= slotEnd || load<u8>(skip + slot)) continue;
    const vector = <usize>load<u32>(addresses + (<usize>slot << 2));
    if (vector == 0) continue;
    store<u32>(others + kept, slot);
    store<f32>(scores + kept, score(query, vector, bytes));
    kept += 4;
  }
  for (let at: u32 = 0; at < found; at++) store<u8>(skip + slotAt(heap, room, at), 0);
  return <u32>(kept >> 2);
}
