/**
 * How does a stream of ratings become records? In chunks of some thousand, each record on the
 * partition of its user. The records of a chunk on one partition are one Kafka batch, stored whole
 * or not at all; its first names the chunk, so that an import can continue and repeat nothing.
 */
import { shardOf } from '@freshet/events';
import type { FileRating } from '@freshet/ratings-files';
import type { OutRecord } from '@freshet/stream';
import type { IntakeCheck } from './intake-check.ts';

export interface ChunkOptions {
  readonly topic: string;
  readonly partitions: number;
  readonly importId: string;
  readonly check: IntakeCheck;
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
/** One rating that is refused among the first must not stop the import. */
const JUDGED_AFTER = 10_000;

/** Throws if intake would park too many of the ratings. */
export async function* ratingChunks(
  batches: AsyncIterable<readonly FileRating[]> | Iterable<readonly FileRating[]>,
  options: ChunkOptions,
): AsyncGenerator<Chunk, void> {
  let number = 0;
  let byPartition = new Map<number, OutRecord[]>();
  let [ratings, bytes] = [0, 0];
  for await (const batch of batches) {
    for (const rating of batch) {
      const value = options.check.encoded(rating);
      if (value === undefined) continue;
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
    options.check.judge(JUDGED_AFTER);
  }
  options.check.judge();
  if (ratings > 0) yield { number, ratings, byPartition };
}
