/**
 * Which shard an id belongs to, everywhere: Kafka's own murmur2 over the UTF-8 bytes, so that a
 * Java, kafkajs or Python producer with default settings already sends a record to the right place.
 */
const SEED = 0x9747b28c;
const MULTIPLIER = 0x5bd1e995;

export function shardOf(id: string | Uint8Array, partitions: number): number {
  const bytes = typeof id === 'string' ? Buffer.from(id, 'utf8') : id;
  return (murmur2(bytes) & 0x7fffffff) % partitions;
}

export function murmur2(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = bytes.length & ~3;
  let hash = SEED ^ bytes.length;
  for (let at = 0; at < whole; at += 4) {
    const word = scramble(view.getInt32(at, true));
    hash = Math.imul(hash, MULTIPLIER) ^ word;
  }
  let tail = 0;
  for (let at = bytes.length - 1; at >= whole; at--) tail = (tail << 8) | view.getUint8(at);
  if (whole < bytes.length) hash = Math.imul(hash ^ tail, MULTIPLIER);
  hash = Math.imul(hash ^ (hash >>> 13), MULTIPLIER);
  return hash ^ (hash >>> 15);
}

function scramble(word: number): number {
  const mixed = Math.imul(word, MULTIPLIER);
  return Math.imul(mixed ^ (mixed >>> 24), MULTIPLIER);
}
