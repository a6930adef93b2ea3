/**
 * A user's row as bytes. An entry is a length byte, the neighbour's id, a float32 value (NaN: taken
 * back) and a float64 time in ms. Entries are appended, and the last one of each neighbour counts.
 */
import { bytesOf } from '@freshet/events';

export interface RowEntry {
  readonly neighbour: string;
  /** null: taken back. This tombstone keeps an older rating that arrives late from counting. */
  readonly value: number | null;
  readonly time: number;
}

const NUMBERS_BYTES = 12;
const ID_BYTES_LIMIT = 256;

export function encodeRowEntry(entry: RowEntry): Uint8Array {
  const bytes = Buffer.allocUnsafe(rowEntryLength(entry));
  writeEntry(bytes, entry, 0);
  return bytes;
}

export function encodeRow(entries: Iterable<RowEntry>): Uint8Array {
  const all = [...entries];
  const bytes = Buffer.allocUnsafe(all.reduce((sum, entry) => sum + rowEntryLength(entry), 0));
  let at = 0;
  for (const entry of all) at = writeEntry(bytes, entry, at);
  return bytes;
}

/** Returns where the entry ends. */
function writeEntry(bytes: Buffer, { neighbour, value, time }: RowEntry, at: number): number {
  const idBytes = bytes.write(neighbour, at + 1, 'utf8');
  bytes.writeUInt8(idBytes - 1, at);
  const numbersAt = bytes.writeFloatLE(value ?? Number.NaN, at + 1 + idBytes);
  return bytes.writeDoubleLE(time, numbersAt);
}

/** The bytes of an entry. A row has more than its entries that count if others were replaced. */
export function rowEntryLength({ neighbour }: Pick<RowEntry, 'neighbour'>): number {
  const idBytes = Buffer.byteLength(neighbour);
  if (idBytes === 0 || idBytes > ID_BYTES_LIMIT) throw new RangeError('id out of bounds');
  return 1 + idBytes + NUMBERS_BYTES;
}

/**
 * The last entry of each neighbour, whatever its time: the writer has already judged which rating
 * counts. Ordered by time, and by arrival where times are equal.
 */
export function decodeRow(row: Uint8Array): Map<string, RowEntry> {
  const bytes = bytesOf(row);
  const entries = new Map<string, RowEntry>();
  let isOrdered = true;
  let latest = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < bytes.length; ) {
    const numbersAt = at + 1 + bytes.readUInt8(at) + 1;
    const neighbour = bytes.toString('utf8', at + 1, numbersAt);
    const value = bytes.readFloatLE(numbersAt);
    const time = bytes.readDoubleLE(numbersAt + 4);
    entries.delete(neighbour);
    entries.set(neighbour, { neighbour, value: Number.isNaN(value) ? null : value, time });
    isOrdered &&= time >= latest;
    latest = time;
    at = numbersAt + NUMBERS_BYTES;
  }
  // Nearly always they arrived in order.
  if (isOrdered) return entries;
  return new Map([...entries].sort(([, one], [, other]) => one.time - other.time));
}
