/**
 * A row as bytes that only grow: an entry is a length byte, the neighbour's id, a float32 value and
 * a float64 time. A later entry of the same neighbour replaces the earlier; NaN takes it back.
 */
export interface RowEntry {
  readonly neighbour: string;
  /** null: un-rated, kept as a tombstone so that an older rating does not come back. */
  readonly value: number | null;
  readonly time: number;
}

const NUMBERS_BYTES = 12;
const ID_BYTES_LIMIT = 256;

export function encodeRowEntry({ neighbour, value, time }: RowEntry): Uint8Array {
  const idBytes = Buffer.byteLength(neighbour);
  if (idBytes === 0 || idBytes > ID_BYTES_LIMIT) throw new RangeError('id out of bounds');
  const bytes = Buffer.allocUnsafe(1 + idBytes + NUMBERS_BYTES);
  bytes.writeUInt8(idBytes - 1, 0);
  bytes.write(neighbour, 1, 'utf8');
  bytes.writeFloatLE(value ?? Number.NaN, 1 + idBytes);
  bytes.writeDoubleLE(time, 5 + idBytes);
  return bytes;
}

/** Entries in the order in which they came, each neighbour once, as it was last. */
export function decodeRow(row: Uint8Array): Map<string, RowEntry> {
  const bytes = Buffer.from(row.buffer, row.byteOffset, row.byteLength);
  const entries = new Map<string, RowEntry>();
  for (let at = 0; at < bytes.length; ) {
    const numbersAt = at + 1 + bytes.readUInt8(at) + 1;
    const neighbour = bytes.toString('utf8', at + 1, numbersAt);
    const value = bytes.readFloatLE(numbersAt);
    const time = bytes.readDoubleLE(numbersAt + 4);
    entries.delete(neighbour);
    entries.set(neighbour, { neighbour, value: Number.isNaN(value) ? null : value, time });
    at = numbersAt + NUMBERS_BYTES;
  }
  return entries;
}
