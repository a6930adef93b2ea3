/** Lists as flat bytes, because Avro arrays cost more to read, and hostile ones far more. */

/** Each string as its length in bytes, 16 bits, and its UTF-8 bytes. */
export function packStrings(strings: readonly string[]): Buffer {
  let length = 0;
  for (const text of strings) length += 2 + Buffer.byteLength(text);
  const packed = Buffer.allocUnsafe(length);
  let at = 0;
  for (const text of strings) {
    const written = packed.write(text, at + 2, 'utf8');
    packed.writeUInt16LE(written, at);
    at += 2 + written;
  }
  return packed;
}

export function unpackStrings(bytes: Buffer): string[] {
  const strings: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const start = at + 2;
    at = start + bytes.readUInt16LE(at);
    strings.push(bytes.toString('utf8', start, at));
  }
  return strings;
}

const LIST_HEAD_BYTES = 5;
const ENTRY_BYTES = 8;

/** Each list as its 32-bit number, a byte with its number of entries, and eight bytes for each. */
export function packLists(lists: ReadonlyMap<number, Uint8Array>): Buffer {
  let length = 0;
  for (const list of lists.values()) length += LIST_HEAD_BYTES + list.length;
  const packed = Buffer.allocUnsafe(length);
  let at = 0;
  for (const [number, list] of lists) {
    packed.writeUInt32LE(number, at);
    packed.writeUInt8(list.length / ENTRY_BYTES, at + 4);
    packed.set(list, at + LIST_HEAD_BYTES);
    at += LIST_HEAD_BYTES + list.length;
  }
  return packed;
}

export function unpackLists(bytes: Buffer): Map<number, Uint8Array> {
  const lists = new Map<number, Uint8Array>();
  for (let at = 0; at < bytes.length; ) {
    const start = at + LIST_HEAD_BYTES;
    const end = start + ENTRY_BYTES * bytes.readUInt8(at + 4);
    if (end > bytes.length) throw new RangeError('a list is cut off');
    const list = new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start);
    lists.set(bytes.readUInt32LE(at), list);
    at = end;
  }
  return lists;
}

type Numbers = Float32Array | Float64Array | Uint32Array;

/** The bytes of a typed array, without a copy ; little-endian on every machine that runs Node. */
export function bytesOf({ buffer, byteOffset, byteLength }: Numbers | Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Copies the bytes, because they may be at any offset and typed arrays must be aligned. */
function copyInto<T extends Numbers>(target: T, bytes: Uint8Array): T {
  new Uint8Array(target.buffer).set(bytes);
  return target;
}

export const float32s = (bytes: Uint8Array): Float32Array =>
  copyInto(new Float32Array(bytes.length / 4), bytes);
export const float64s = (bytes: Uint8Array): Float64Array =>
  copyInto(new Float64Array(bytes.length / 8), bytes);
