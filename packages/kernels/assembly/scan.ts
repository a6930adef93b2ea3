// Scans over vectors, one behind the other or anywhere.
import { laneSums } from './vectors';

// @ts-ignore: decorator
@inline
function fourDots(query: usize, p0: usize, p1: usize, p2: usize, p3: usize, bytes: usize): v128 {
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
  return laneSums(a0, a1, a2, a3);
}

/** out[i] = query·v for `count` vectors from `start`; out has room for `count` rounded up to four. */
export function scan(query: usize, start: usize, count: u32, out: usize, bytes: usize): void {
  for (let done: u32 = 0; done < count; done += 4) {
    const p0 = start + done * bytes;
    // The last group re-reads the last vector instead of running past the block.
    const p1 = p0 + select<usize>(bytes, 0, done + 1 < count);
    const p2 = p1 + select<usize>(bytes, 0, done + 2 < count);
    const p3 = p2 + select<usize>(bytes, 0, done + 3 < count);
    v128.store(out + (<usize>done << 2), fourDots(query, p0, p1, p2, p3, bytes));
  }
}

/** The same for vectors at `count` addresses, u32 each, of which there is a multiple of four. */
export function scanAt(query: usize, places: usize, count: u32, out: usize, bytes: usize): void {
  for (let done: u32 = 0; done < count; done += 4) {
    const four = places + (<usize>done << 2);
    const sums = fourDots(
      query, load<u32>(four), load<u32>(four, 4), load<u32>(four, 8), load<u32>(four, 12), bytes,
    );
    v128.store(out + (<usize>done << 2), sums);
  }
}

/**
 * Merges `count` scores, the first of them slot `first`, into the best so far (sorted, best first, `filled`
 * of `room`), leaving out slots whose byte at `skip` is set. Returns how many are filled now.
 */
export function keepBest(
  scores: usize, count: u32, first: u32, skip: usize, bestSlots: usize, bestScores: usize,
  filled: u32, room: u32,
): u32 {
  for (let i: u32 = 0; i < count; i++) {
    const score = load<f32>(scores + (<usize>i << 2));
    if (filled == room && !(score > load<f32>(bestScores + (<usize>(filled - 1) << 2)))) continue;
    if (load<u8>(skip + first + i)) continue;
    let at = filled < room ? filled++ : filled - 1;
    while (at > 0 && load<f32>(bestScores + (<usize>(at - 1) << 2)) < score) {
      store<f32>(bestScores + (<usize>at << 2), load<f32>(bestScores + (<usize>(at - 1) << 2)));
      store<u32>(bestSlots + (<usize>at << 2), load<u32>(bestSlots + (<usize>(at - 1) << 2)));
      at--;
    }
    store<f32>(bestScores + (<usize>at << 2), score);
    store<u32>(bestSlots + (<usize>at << 2), first + i);
  }
  return filled;
}
