// Scans over vectors that lie one behind the other.
import { dots } from './row';

/** out[i] = query·v for `count` vectors from `start`; out has room for `count` rounded up to four. */
export function scan(query: usize, start: usize, count: u32, out: usize, bytes: usize): void {
  for (let done: u32 = 0; done < count; done += 4) {
    const p0 = start + done * bytes;
    // The last group re-reads the last vector instead of running past the block.
    const p1 = p0 + select<usize>(bytes, 0, done + 1 < count);
    const p2 = p1 + select<usize>(bytes, 0, done + 2 < count);
    const p3 = p2 + select<usize>(bytes, 0, done + 3 < count);
    v128.store(out + (<usize>done << 2), dots(query, p0, p1, p2, p3, bytes));
  }
}
