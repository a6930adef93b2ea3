/**
 * A user's row as bytes: an entry is a length byte, the neighbour's id, a float32 value (NaN: taken back) and a
 * float64 time, ms. Entries are only ever put behind the others, until the row is written anew without those
 * that a later one has replaced.
 */
export interface RowEntry {
  readonly neighbour: string;
  /** null: un-rated, kept as a tombstone so that an older rating does not come back. */
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

/** Entries one behind the other, in the order given. */
export function encodeRow(entries: Iterable<RowEntry>): Uint8Array {
  const all = [...entries];
  const bytes = Buffer.allocUnsafe(all.reduce((sum, entry) => sum + rowEntryLength(entry), 0));
  let at = 0;
  for (const entry of all) at = writeEntry(bytes, entry, at);
  return bytes;
}

/** Returns where it ends. */
function writeEntry(bytes: Buffer, { neighbour, value, time }: RowEntry, at: number): number {
  const idBytes = bytes.write(neighbour, at + 1, 'utf8');
  bytes.writeUInt8(idBytes - 1, at);
  const numbersAt = bytes.writeFloatLE(value ?? Number.NaN, at + 1 + idBytes);
  return bytes.writeDoubleLE(time, numbersAt);
}

/** How many bytes an entry takes: all of a row less those of the entries that count is dead. */
export function rowEntryLength({ neighbour }: Pick<RowEntry, 'neighbour'>): number {
  const idBytes = Buffer.byteLength(neighbour);
  if (idBytes === 0 || idBytes > ID_BYTES_LIMIT) throw new RangeError('id out of bounds');
  return 1 + idBytes + NUMBERS_BYTES;
}

/**
 * Each neighbour once, as it was last, whatever the times say: whoever wrote the entry had judged them. In the
 * order of their times, and of their arrival where those are equal.
 */
export function decodeRow(row: Uint8Array): Map<string, RowEntry> {
  const bytes = Buffer.from(row.buffer, row.byteOffset, row.byteLength);
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
  // As good as always they came in order.
  if (isOrdered) return entries;
  return new Map([...entries].sort(([, one], [, other]) => one.time - other.time));
}
