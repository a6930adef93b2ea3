/**
 * CRC-32C, the checksum of Kafka's batches. Every byte that is read is checked, so this looks up
 * eight bytes at a time in eight tables: about four times as fast as byte by byte.
 */
const POLYNOMIAL = 0x82f63b78;
const LANES = 8;

const t0 = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (POLYNOMIAL & -(crc & 1));
  return crc;
});

/** The table for a byte that is followed by one more byte than in the given table. */
function following(table: Int32Array): Int32Array {
  return table.map((crc) => (crc >>> 8) ^ (t0[crc & 0xff] as number));
}

const t1 = following(t0);
const t2 = following(t1);
const t3 = following(t2);
const t4 = following(t3);
const t5 = following(t4);
const t6 = following(t5);
const t7 = following(t6);

export function crc32c(bytes: Uint8Array, start = 0): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = (table: Int32Array, index: number): number => table[index & 0xff] as number;
  let crc = -1;
  let place = start;
  for (; place + LANES <= bytes.length; place += LANES) {
    const low = crc ^ view.getInt32(place, true);
    const high = view.getInt32(place + 4, true);
    crc =
      at(t7, low) ^
      at(t6, low >>> 8) ^
      at(t5, low >>> 16) ^
      at(t4, low >>> 24) ^
      at(t3, high) ^
      at(t2, high >>> 8) ^
      at(t1, high >>> 16) ^
      at(t0, high >>> 24);
  }
  for (; place < bytes.length; place++) {
    crc = (crc >>> 8) ^ at(t0, crc ^ (bytes[place] as number));
  }
  return ~crc >>> 0;
}
