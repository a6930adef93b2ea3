// The list of the best scores of a search: filled u32 · room u32 · threshold f32 · dropped f32 ·
// scores, room × f32 · slots, room × u32. The worst score of the list is at the root. `threshold`
// is that score once the heap is full, and −∞ before. `dropped` is the best score that did not fit:
// if it equals the worst score of the list, there is a tie.

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
export function slotAt(heap: usize, room: u32, at: u32): u32 {
  return load<u32>(heap + 16 + (<usize>(room + at) << 2));
}

/** Adds a score that is not below the threshold. */
export function offer(heap: usize, score: f32, slot: u32): void {
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
