/** Keeps the catalogue told of what the items topic says; what makes no sense there is logged and passed over. */
import { decodeItemMetadata, PoisonRecord, topicName } from '@freshet/events';
import type { Session } from '@freshet/session';
import { type LogRecord, Tail } from '@freshet/stream';
import type { Log } from '@freshet/telemetry';
import type { Catalogue } from './catalogue.ts';

interface MetadataOptions extends Pick<Session, 'kafka' | 'admin' | 'model'> {
  readonly log: Log;
  readonly fail: (error: unknown) => void;
}

export function followMetadata(
  catalogue: Pick<Catalogue, 'describe'>,
  { kafka, admin, model, log, fail }: MetadataOptions,
): Promise<Tail> {
  const topic = topicName('items', model);
  return Tail.open(kafka, admin, {
    topic,
    model,
    log,
    fail,
    startAt: async (partition) => (await admin.starts(topic)).get(partition) ?? 0,
    receive: (_, records) => describeAll(catalogue, records, log),
  });
}

export function describeAll(
  catalogue: Pick<Catalogue, 'describe'>,
  records: readonly LogRecord[],
  log: Pick<Log, 'warn'>,
): void {
  for (const { key, value, offset } of records) {
    try {
      catalogue.describe(...decodeItemMetadata(key, value));
    } catch (error) {
      if (!(error instanceof PoisonRecord)) throw error;
      log.warn({ reason: error.reason, offset }, 'record of the items topic passed over');
    }
  }
}
