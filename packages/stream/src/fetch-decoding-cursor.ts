/** Reads the fields of a record one after the other; throws rather than read beyond the end. */
import { corrupt } from './codecs-bytes.ts';

/** Each byte has 7 bits of the number. A double is exact up to 53 bits, so up to seven bytes. */
const EXACT_BYTES = 7;
const VARLONG_BYTES = 10;

export class Cursor {
  constructor(
    readonly bytes: Buffer,
    public at = 0,
    readonly end = bytes.length,
  ) {}

  get left(): number {
    return this.end - this.at;
  }

  /** Skips `count` bytes; returns where they begin. */
  skip(count: number): number {
    if (count < 0 || count > this.left) throw corrupt();
    this.at += count;
    return this.at - count;
  }

  int8(): number {
    return this.bytes.readInt8(this.skip(1));
  }

  int32(): number {
    return this.bytes.readInt32BE(this.skip(4));
  }

  int64(): bigint {
    return this.bytes.readBigInt64BE(this.skip(8));
  }

  /** Zigzag encoding: even numbers stand for positive numbers, odd numbers for negative ones. */
  varint(): number {
    const value = this.varlong();
    if (typeof value === 'bigint' || value !== (value | 0)) throw corrupt();
    return value;
  }

  varlong(): number | bigint {
    // A fast path: most numbers are lengths and differences below 64, which take one byte.
    const only = this.at < this.end ? (this.bytes[this.at] as number) : 0x80;
    if (only < 0x80) {
      this.at++;
      return only & 1 ? -(only + 1) / 2 : only / 2;
    }
    let sum = 0;
    for (let count = 0; count < EXACT_BYTES; count++) {
      const byte = this.bytes[this.skip(1)] as number;
      sum += (byte & 0x7f) * 2 ** (7 * count);
      if (byte < 0x80) return sum % 2 === 0 ? sum / 2 : -(sum + 1) / 2;
    }
    return this.#restOf(BigInt(sum));
  }

  /** A length and as many bytes; a length of -1 stands for null. */
  varBytes(): Buffer | null {
    return this.#take(this.varint());
  }

  bytesOrNull(): Buffer | null {
    return this.#take(this.int32());
  }

  #take(length: number): Buffer | null {
    if (length === -1) return null;
    const from = this.skip(length);
    return this.bytes.subarray(from, this.at);
  }

  #restOf(low: bigint): bigint {
    let sum = low;
    for (let count = EXACT_BYTES; count < VARLONG_BYTES; count++) {
      const byte = this.bytes[this.skip(1)] as number;
      sum += BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte < 0x80) return BigInt.asIntN(64, (sum >> 1n) ^ -(sum & 1n));
    }
    throw corrupt();
  }
}
