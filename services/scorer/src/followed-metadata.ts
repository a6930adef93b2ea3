/**
 * Keeps the catalogue told of what the items topic says. Every scorer reads all of it at every start: what
 * makes no sense is logged and passed over by each, and parked by one, when it comes.
 */
import { asPoison, decodeItemMetadata, topicName } from '@freshet/events';
import type { Session } from '@freshet/session';
import { deadLetter, type LogRecord, type Publisher, Tail } from '@freshet/stream';
import { type Log, metrics } from '@freshet/telemetry';
import type { Catalogue } from './catalogue.ts';

interface MetadataOptions extends Pick<Session, 'kafka' | 'admin' | 'model'> {
  readonly publisher: Pick<Publisher, 'publish'>;
  /** Of several scorers one parks what makes no sense. */
  readonly isFirst: () => boolean;
  readonly log: Log;
  readonly fail: (error: unknown) => void;
}

interface Poison {
  readonly record: LogRecord;
  readonly error: ReturnType<typeof asPoison>;
}

export async function followMetadata(
  catalogue: Pick<Catalogue, 'describe'>,
  { kafka, admin, model, publisher, isFirst, log, fail }: MetadataOptions,
): Promise<Tail> {
  const topic = topicName('items', model);
  const goals = await admin.ends(topic);
  const park = async (partition: number, found: readonly Poison[]): Promise<void> => {
    // What was there before this scorer was parked when it came.
    const news = found.filter(({ record }) => record.offset >= (goals.get(partition) ?? 0));
    if (news.length === 0 || !isFirst()) return;
    const place = { topic, partition };
    await publisher.publish(
      news.map(({ record, error }) => deadLetter(model, place, record, error)),
    );
  };
  return Tail.open(kafka, admin, {
    topic,
    model,
    log,
    fail,
    startAt: async (partition) => (await admin.starts(topic)).get(partition) ?? 0,
    receive: (partition, records) => park(partition, describeAll(catalogue, records, log)),
  });
}

export function describeAll(
  catalogue: Pick<Catalogue, 'describe'>,
  records: readonly LogRecord[],
  log: Pick<Log, 'warn'>,
): Poison[] {
  const found: Poison[] = [];
  for (const record of records) {
    const { key, value, offset } = record;
    try {
      catalogue.describe(...decodeItemMetadata(key, value));
    } catch (error) {
      const poison = asPoison(error);
      const { reason, message } = poison;
      log.warn({ reason, message, offset }, 'record of the items topic passed over');
      metrics.refusedRecords.inc({ topic: 'items', reason });
      found.push({ record, error: poison });
    }
  }
  return found;
}
