/** Follows `user-factors`, from the state of the store on, to learn which users have moved. */
import { type FactorBatch, readFactorBatch, topicName } from '@freshet/events';
import type { Session } from '@freshet/session';
import { InternalEvents, Tail } from '@freshet/stream';
import { type Log, untilAnswered } from '@freshet/telemetry';
import type { UserReader } from './user-reader.ts';

interface UsersOptions extends Pick<Session, 'kafka' | 'admin' | 'store' | 'model'> {
  readonly factorCount: number;
  readonly log: Log;
  readonly fail: (error: unknown) => void;
  /** Called with each batch, after the reader. */
  readonly moved: (batch: FactorBatch) => void;
}

export async function followUsers(
  users: Pick<UserReader, 'begin' | 'moved'>,
  { kafka, admin, store, model, factorCount, log, fail, moved }: UsersOptions,
): Promise<Tail> {
  const topic = topicName('userFactors', model);
  const decode = (value: Buffer, shard: number) =>
    readFactorBatch(value, { side: 'user', shard }, { factorCount });
  const events = new InternalEvents({ topic, log, decode });
  // The ends are read before the store: a batch between the two is received twice, not missed.
  const positions = new Map(await admin.ends(topic));
  for (const shard of positions.keys()) {
    const attempts = { log, what: 'the head of a user shard was not read' };
    const head = await untilAnswered(() => store.head({ side: 'user', shard }), attempts);
    users.begin(shard, head);
  }
  return Tail.open(kafka, admin, {
    topic,
    model,
    log,
    fail,
    startAt: async (partition) => positions.get(partition) ?? 0,
    receive: (partition, records) => {
      for (const record of records) {
        positions.set(partition, record.offset + 1);
        const batch = events.read(partition, record);
        if (batch === undefined) continue;
        users.moved(batch);
        moved(batch);
      }
    },
  });
}
