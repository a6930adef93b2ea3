/**
 * LZ4 as Kafka uses it: one LZ4 frame per batch. The packages on npm that read frames do not limit
 * their output, so this is a reader of our own. It ignores the checksums of a frame, which are
 * optional: that of the batch covers the same bytes, and old Java clients wrote wrong ones.
 */
import { BoundedOutput, corrupt } from './codecs-bytes.ts';

const MAGIC = 0x184d2204;
const VERSION_MASK = 0xc0;
const VERSION_1 = 0x40;
const INDEPENDENT_BLOCKS = 0x20;
const BLOCK_CHECKSUMS = 0x10;
const CONTENT_SIZE = 0x08;
const DICTIONARY = 0x01;
const STORED_BLOCK = 0x8000_0000;
/** A length of four bits that continues in the following bytes. */
const LONG = 15;
const MIN_MATCH = 4;

export function readLz4(input: Buffer, limit: number): Buffer {
  if (input.length < 7 || input.readUInt32LE(0) !== MAGIC) throw corrupt();
  const flags = input.readUInt8(4);
  if ((flags & VERSION_MASK) !== VERSION_1 || flags & DICTIONARY) throw corrupt();
  const output = new BoundedOutput(input.length * 4, limit);
  let at = 7 + (flags & CONTENT_SIZE ? 8 : 0);
  for (;;) {
    if (at + 4 > input.length) throw corrupt();
    const word = input.readUInt32LE(at);
    at += 4;
    if (word === 0) return output.done();
    const end = at + (word & ~STORED_BLOCK);
    if (end > input.length) throw corrupt();
    if (word & STORED_BLOCK) output.append(input, at, end);
    else readBlock(input, at, end, output, flags & INDEPENDENT_BLOCKS ? output.length : 0);
    at = end + (flags & BLOCK_CHECKSUMS ? 4 : 0);
  }
}

/** `floor`: how far back a match may reach: to the beginning of the block, or of the frame. */
function readBlock(
  input: Buffer,
  start: number,
  end: number,
  output: BoundedOutput,
  floor: number,
): void {
  let at = start;
  const length = (short: number): number => {
    if (short < LONG) return short;
    let sum = short;
    for (;;) {
      if (at >= end) throw corrupt();
      const more = input[at++] as number;
      sum += more;
      if (more < 255) return sum;
    }
  };
  while (at < end) {
    const token = input[at++] as number;
    const literals = length(token >> 4);
    if (at + literals > end) throw corrupt();
    output.append(input, at, at + literals);
    at += literals;
    // The last sequence of a block has literals only.
    if (at === end) return;
    if (at + 2 > end) throw corrupt();
    const distance = (input[at] as number) | ((input[at + 1] as number) << 8);
    at += 2;
    output.repeat(distance, length(token & LONG) + MIN_MATCH, floor);
  }
}
