/**
 * How does a stream of ratings become records? In chunks of some thousand, each record on the
 * partition of its user. The records of a chunk on one partition are one Kafka batch, stored whole
 * or not at all; its first names the chunk, so that an import can continue and repeat nothing.
 */
import { encodeRating, PoisonRecord, type RatingReader, shardOf } from '@freshet/events';
import type { FileRating } from '@freshet/ratings-files';
import type { OutRecord } from '@freshet/stream';

export interface ChunkOptions {
  readonly topic: string;
  readonly partitions: number;
  /** Checks a rating as intake will. */
  readonly reader: Pick<RatingReader, 'read'>;
  readonly importId: string;
  /** A rating that intake would have to park. */
  readonly onRefused: (rating: FileRating, reason: string) => void;
}

export interface Chunk {
  /** From 0; the same file is always cut into the same chunks. */
  readonly number: number;
  readonly ratings: number;
  readonly byPartition: ReadonlyMap<number, readonly OutRecord[]>;
}

export const IMPORT_HEADER = 'freshet-import';

/** A chunk fits one request: a publisher sends up to 1 MB of values at once. */
const limits = { ratings: 4_000, bytes: 512 << 10 } as const;

export async function* ratingChunks(
  batches: AsyncIterable<readonly FileRating[]> | Iterable<readonly FileRating[]>,
  options: ChunkOptions,
): AsyncGenerator<Chunk, void> {
  let number = 0;
  let byPartition = new Map<number, OutRecord[]>();
  let [ratings, bytes] = [0, 0];
  for await (const batch of batches) {
    for (const rating of batch) {
      const value = encoded(rating, options.reader);
      if (value instanceof PoisonRecord) {
        options.onRefused(rating, value.message);
        continue;
      }
      const partition = shardOf(rating.user, options.partitions);
      const records = byPartition.get(partition) ?? [];
      const isFirst = records.length === 0;
      const headers = isFirst
        ? { headers: { [IMPORT_HEADER]: `${options.importId}/${number}` } }
        : {};
      records.push({ topic: options.topic, partition, key: rating.user, value, ...headers });
      byPartition.set(partition, records);
      ratings++;
      bytes += value.length;
      if (ratings < limits.ratings && bytes < limits.bytes) continue;
      yield { number: number++, ratings, byPartition };
      byPartition = new Map();
      [ratings, bytes] = [0, 0];
    }
  }
  if (ratings > 0) yield { number, ratings, byPartition };
}

/**
 * Encodes in Freshet's own schema, which intake reads whatever RATING_FIELDS says. Returns the
 * reason if intake would park it.
 */
export function encoded(
  { user, item, value, time }: FileRating,
  reader: ChunkOptions['reader'],
): Buffer | PoisonRecord {
  const whole = time === undefined ? null : Math.round(time);
  const bytes = encodeRating({ user, item, value, time: whole });
  try {
    reader.read({ key: null, value: bytes, timestamp: Date.now() });
    return bytes;
  } catch (error) {
    if (error instanceof PoisonRecord) return error;
    throw error;
  }
}
