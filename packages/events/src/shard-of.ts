/**
 * Which shard does an id belong to? Kafka's own murmur2 over the UTF-8 bytes decides, as it does
 * for producers with default settings, in Java, Python or with kafkajs.
 */
const SEED = 0x9747b28c;
const MULTIPLIER = 0x5bd1e995;

/** Holds the bytes of the id that is hashed, because a new buffer for each hash would cost more. */
const scratch = Buffer.allocUnsafe(4096);

export function shardOf(id: string, partitions: number): number {
  const fits = 3 * id.length <= scratch.length;
  const bytes = fits ? scratch : Buffer.from(id);
  const length = fits ? scratch.write(id) : bytes.length;
  return shardOfBytes(bytes, 0, length, partitions);
}

/** The same for an id whose UTF-8 bytes go from `start` to `end`. */
export function shardOfBytes(
  bytes: Uint8Array,
  start: number,
  end: number,
  partitions: number,
): number {
  return (murmur2(bytes, start, end) & 0x7fffffff) % partitions;
}

export function murmur2(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const at = (index: number): number => bytes[index] as number;
  const length = end - start;
  const whole = start + (length & ~3);
  let hash = SEED ^ length;
  for (let i = start; i < whole; i += 4) {
    const word = at(i) | (at(i + 1) << 8) | (at(i + 2) << 16) | (at(i + 3) << 24);
    hash = Math.imul(hash, MULTIPLIER) ^ scramble(word);
  }
  let tail = 0;
  for (let i = end - 1; i >= whole; i--) tail = (tail << 8) | at(i);
  if (whole < end) hash = Math.imul(hash ^ tail, MULTIPLIER);
  hash = Math.imul(hash ^ (hash >>> 13), MULTIPLIER);
  return hash ^ (hash >>> 15);
}

function scramble(word: number): number {
  const mixed = Math.imul(word, MULTIPLIER);
  return Math.imul(mixed ^ (mixed >>> 24), MULTIPLIER);
}
