/**
 * Finds repeated bytes, greedily, with one hash table. LZ4 and Snappy share this half of a
 * compressor; each writes in its own format what was found.
 */

/** Literals from..to, then `length` bytes as `distance` bytes back. Distance 0: the input ends. */
type Emit = (from: number, to: number, distance: number, length: number) => void;

const MIN_MATCH = 4;
/** About as many slots as bytes: to clear a larger table would take most of the time. */
const hashBits = (bytes: number): number => Math.min(14, 32 - Math.clz32(bytes | 0xff));
/** LZ4's format forbids a match that begins in the last 12 bytes or reaches into the last 5. */
const NO_MATCH_FROM_END = 12;
const LITERALS_AT_END = 5;

export function eachMatch(
  input: Buffer,
  start: number,
  end: number,
  maxDistance: number,
  emit: Emit,
): void {
  const bits = hashBits(end - start);
  const lastSeen = new Int32Array(1 << bits).fill(-1);
  const lastMatch = end - NO_MATCH_FROM_END;
  let from = start;
  let at = start;
  while (at < lastMatch) {
    const word = input.readInt32LE(at);
    const slot = Math.imul(word, 0x9e3779b1) >>> (32 - bits);
    const seen = lastSeen[slot] as number;
    lastSeen[slot] = at;
    if (seen < 0 || at - seen > maxDistance || input.readInt32LE(seen) !== word) {
      // The longer nothing repeats, the larger the steps, so that random bytes cost little time.
      at += 1 + ((at - from) >> 6);
      continue;
    }
    let length = MIN_MATCH;
    while (at + length < end - LITERALS_AT_END && input[seen + length] === input[at + length]) {
      length++;
    }
    emit(from, at, at - seen, length);
    at += length;
    from = at;
  }
  emit(from, end, 0, 0);
}
