/** Which users moved? Follows `user-factors` from what the store holds at the start, and tells the reader. */
import { type FactorBatch, factorBatchCodec, topicName } from '@freshet/events';
import type { Session } from '@freshet/session';
import { Tail } from '@freshet/stream';
import type { Log } from '@freshet/telemetry';
import type { UserReader } from './user-reader.ts';

interface UsersOptions extends Pick<Session, 'kafka' | 'admin' | 'store' | 'model'> {
  readonly log: Log;
  readonly fail: (error: unknown) => void;
  /** Told of each batch after the reader. */
  readonly moved: (batch: FactorBatch) => void;
}

export async function followUsers(
  users: Pick<UserReader, 'begin' | 'moved'>,
  { kafka, admin, store, model, log, fail, moved }: UsersOptions,
): Promise<Tail> {
  const topic = topicName('userFactors', model);
  // First the ends, then the store: what comes between is told twice, not missed.
  const positions = new Map(await admin.ends(topic));
  for (const shard of positions.keys()) {
    const { epoch, sequence, position } = (await store.inspect({ side: 'user', shard })).facts;
    if (position === undefined) continue;
    users.begin(shard, {
      epoch: Number(epoch ?? 0),
      sequence: Number(sequence ?? 0),
      next: Number(position),
    });
  }
  return Tail.open(kafka, admin, {
    topic,
    model,
    log,
    fail,
    startAt: async (partition) => positions.get(partition) ?? 0,
    receive: (partition, records) => {
      for (const { value, offset } of records) {
        positions.set(partition, offset + 1);
        if (value === null) continue;
        const batch = factorBatchCodec.decode(value);
        users.moved(batch);
        moved(batch);
      }
    },
  });
}
