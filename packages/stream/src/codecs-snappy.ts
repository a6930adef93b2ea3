/**
 * Snappy as Kafka clients write it. Java clients wrap raw Snappy blocks in the frame of the xerial
 * library; librdkafka and others write either that frame or one raw block. This file reads both.
 */
import { BoundedOutput, corrupt, tooLarge } from './codecs-bytes.ts';

const FRAME = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
/** The magic, a version, and the oldest version that can read it; the last two are int32. */
const FRAME_HEADER_BYTES = FRAME.length + 8;
/** The most that Snappy can compress: three bytes for a copy of 64. */
const MAX_RATIO = 22;

export function readSnappy(input: Buffer, limit: number): Buffer {
  const output = new BoundedOutput(input.length * 4, limit);
  if (!input.subarray(0, FRAME.length).equals(FRAME)) {
    readBlock(input, output);
    return output.done();
  }
  let at = FRAME_HEADER_BYTES;
  if (input.length < at) throw corrupt();
  while (at < input.length) {
    if (at + 4 > input.length) throw corrupt();
    const size = input.readUInt32BE(at);
    at += 4;
    if (at + size > input.length) throw corrupt();
    readBlock(input.subarray(at, at + size), output);
    at += size;
  }
  return output.done();
}

function readBlock(input: Buffer, output: BoundedOutput): void {
  let at = 0;
  const little = (count: number): number => {
    if (at + count > input.length) throw corrupt();
    let value = 0;
    for (let index = 0; index < count; index++) value += (input[at++] as number) * 256 ** index;
    return value;
  };
  const floor = output.length;
  const { length, next } = declaredLength(input);
  if (length > input.length * MAX_RATIO) throw corrupt();
  if (floor + length > output.limit) throw tooLarge(output.limit);
  at = next;
  while (at < input.length) {
    const tag = little(1);
    const high = tag >> 2;
    if ((tag & 3) === 0) {
      // The length of up to 60 bytes is in the tag, that of more in the bytes after it.
      const count = 1 + (high < 60 ? high : little(high - 59));
      if (at + count > input.length) throw corrupt();
      output.append(input, at, at + count);
      at += count;
    } else if ((tag & 3) === 1) {
      output.repeat(((tag >> 5) << 8) | little(1), 4 + (high & 7), floor);
    } else {
      output.repeat(little((tag & 3) === 2 ? 2 : 4), 1 + high, floor);
    }
    if (output.length - floor > length) throw corrupt();
  }
  if (output.length - floor !== length) throw corrupt();
}

/** A block begins with the number of bytes that it decompresses to. */
function declaredLength(input: Buffer): { length: number; next: number } {
  let length = 0;
  for (let at = 0; at < 5; at++) {
    const byte = input[at];
    if (byte === undefined) break;
    length += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return { length, next: at + 1 };
  }
  throw corrupt();
}
