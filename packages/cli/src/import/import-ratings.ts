/**
 * Sends a file of ratings to a topic so that each rating is sent once, even if the import is
 * interrupted. When it continues, it skips the chunks that the state file says are acknowledged. Of
 * the one chunk that was in flight, it skips the partitions that have received it.
 */
import type { FileRating } from '@freshet/ratings-files';
import type { Brokers } from '@freshet/session';
import { type Publisher, readTopic, textHeader } from '@freshet/stream';
import type { Log } from '@freshet/telemetry';
import type { ImportState } from './import-state.ts';
import { type Chunk, type ChunkOptions, IMPORT_HEADER, ratingChunks } from './rating-chunks.ts';

interface Importing extends Brokers, Omit<ChunkOptions, 'importId'> {
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly model: string;
  readonly log: Log;
  readonly batches: AsyncIterable<readonly FileRating[]> | Iterable<readonly FileRating[]>;
  readonly state: ImportState;
  /** Called after every acknowledged chunk. */
  readonly save: (state: ImportState) => void;
  readonly onSent: (sent: number, skipped: number) => void;
  readonly signal: AbortSignal;
}

export interface ImportOutcome {
  readonly sent: number;
  /** Ratings that an earlier run had sent. */
  readonly skipped: number;
  readonly interrupted: boolean;
}

export async function importRatings(importing: Importing): Promise<ImportOutcome> {
  const { admin, topic, publisher, signal, save, onSent } = importing;
  let { state } = importing;
  const arrived =
    state.chunks > 0 || state.ends.length > 0 ? await arrivedOf(importing) : new Map();
  if (state.ends.length === 0) state = { ...state, ends: [...(await admin.ends(topic))] };
  save(state);
  let [sent, skipped] = [0, 0];
  const chunks = ratingChunks(importing.batches, { ...importing, importId: state.id });
  for (let next = await chunks.next(); !next.done; ) {
    const chunk = next.value;
    if (signal.aborted) {
      await chunks.return();
      return { sent, skipped, interrupted: true };
    }
    if (chunk.number < state.chunks) {
      skipped += chunk.ratings;
      next = await chunks.next();
      continue;
    }
    const missing = missingOf(chunk, arrived);
    // The next chunk is read while Kafka takes this one.
    [next] = await Promise.all([chunks.next(), publisher.publish(missing)]);
    sent += missing.length;
    skipped += chunk.ratings - missing.length;
    state = {
      ...state,
      chunks: chunk.number + 1,
      ratings: state.ratings + chunk.ratings,
      ends: [...(await admin.ends(topic))],
    };
    save(state);
    onSent(sent, skipped);
  }
  save({ ...state, done: true });
  return { sent, skipped, interrupted: false };
}

function missingOf(chunk: Chunk, arrived: ReadonlyMap<number, ReadonlySet<number>>) {
  return [...chunk.byPartition]
    .filter(([partition]) => !arrived.get(chunk.number)?.has(partition))
    .flatMap(([, records]) => records);
}

/** By chunk, the partitions that hold it, of chunks that are not known to be acknowledged. */
async function arrivedOf(importing: Importing): Promise<Map<number, Set<number>>> {
  const { state } = importing;
  const arrived = new Map<number, Set<number>>();
  await readTopic({
    ...importing,
    from: new Map(state.ends),
    receive: (partition, records) => {
      for (const { headers } of records) {
        const [id, chunk] = textHeader(headers, IMPORT_HEADER)?.split('/') ?? [];
        if (id !== state.id) continue;
        const partitions = arrived.get(Number(chunk)) ?? new Set();
        arrived.set(Number(chunk), partitions.add(partition));
      }
    },
  });
  return arrived;
}
