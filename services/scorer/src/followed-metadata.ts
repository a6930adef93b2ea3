/**
 * Follows the topic `items` into the catalogue. Every scorer reads the whole topic at its start. A
 * record that cannot be read is logged and skipped by every scorer, and parked by one of them when
 * it arrives.
 */
import { asPoison, decodeItemMetadata, topicName } from '@freshet/events';
import type { Session } from '@freshet/session';
import { deadLetter, type LogRecord, type Publisher, Tail } from '@freshet/stream';
import { type Log, metrics } from '@freshet/telemetry';
import type { Catalogue } from './catalogue.ts';

interface MetadataOptions extends Pick<Session, 'kafka' | 'admin' | 'model'> {
  readonly publisher: Pick<Publisher, 'publish'>;
  /** True of the one scorer that parks records. */
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
    // Records from before this scorer started were parked when they arrived.
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
      log.warn({ reason, message, offset }, 'a record of the topic items cannot be read: skipped');
      metrics.refusedRecords.inc({ topic: 'items', reason });
      found.push({ record, error: poison });
    }
  }
  return found;
}
