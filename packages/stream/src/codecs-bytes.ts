/** A growing buffer with a limit: a decompressor writes to it, and copies what it wrote before. */

/** The message says what is wrong; `codecs.ts` puts the name of the codec before it. */
export class BadBytes extends Error {
  override readonly name = 'BadBytes';
}

export const corrupt = (): BadBytes => new BadBytes('the bytes are corrupt');

export function tooLarge(limit: number): BadBytes {
  return new BadBytes(`one batch decompresses to more than the limit of ${limit} bytes`);
}

/** Most literals have a few bytes. Up to this length, a loop is several times faster than `set`. */
const SHORT_BYTES = 32;

export class BoundedOutput {
  #bytes: Buffer;
  #length = 0;

  constructor(
    expected: number,
    readonly limit: number,
  ) {
    this.#bytes = Buffer.allocUnsafe(Math.min(expected, limit));
  }

  get length(): number {
    return this.#length;
  }

  append(source: Uint8Array, from: number, to: number): void {
    if (to > source.length) throw corrupt();
    this.#reserve(to - from);
    const [target, start] = [this.#bytes, this.#length];
    this.#length += to - from;
    if (to - from > SHORT_BYTES) target.set(source.subarray(from, to), start);
    else for (let at = from; at < to; at++) target[start + at - from] = source[at] as number;
  }

  /** Repeats bytes from `distance` back, not before `floor`. Source and target may overlap. */
  repeat(distance: number, count: number, floor: number): void {
    if (distance === 0 || distance > this.#length - floor) throw corrupt();
    this.#reserve(count);
    const bytes = this.#bytes;
    const end = this.#length + count;
    for (let at = this.#length; at < end; at++) bytes[at] = bytes[at - distance] as number;
    this.#length = end;
  }

  done(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    if (needed > this.limit) throw tooLarge(this.limit);
    const grown = Buffer.allocUnsafe(
      Math.min(this.limit, Math.max(needed, this.#bytes.length * 2)),
    );
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
