/** The first or last records of a topic, by time. Leaves no consumer group and creates no topic. */
import type { Brokers } from '@freshet/session';
import { type LogRange, type LogRecord, readTopic } from '@freshet/stream';
import type { Place } from '../operator-command.ts';

interface PlacedRecord {
  readonly partition: number;
  readonly record: LogRecord;
}

interface Selection {
  readonly topic: string;
  readonly count: number;
  readonly fromBeginning: boolean;
}

/** Thrown to stop reading before the end of the topic. */
class Enough extends Error {
  override readonly name = 'Enough';
}

/** The end of a transaction takes an offset, so only every second offset may hold a record. */
const OFFSETS_PER_RECORD = 2;

export async function topicRecords(
  { log, model }: Pick<Place, 'log' | 'model'>,
  { kafka, admin }: Brokers,
  { topic, count, fromBeginning }: Selection,
): Promise<PlacedRecord[]> {
  const found = new Map<number, LogRecord[]>();
  const held = [...(await admin.ranges(topic))].filter(([, { start, end }]) => start < end);
  const starts = held.map(([partition, { end }]): [number, number] => [
    partition,
    fromBeginning ? 0 : Math.max(0, end - count * OFFSETS_PER_RECORD),
  ]);
  const isRead = ([partition, { end }]: [number, LogRange]): boolean => {
    const records = found.get(partition) ?? [];
    return records.length >= count || (records.at(-1)?.offset ?? -1) >= end - 1;
  };
  const receive = (partition: number, records: readonly LogRecord[]): void => {
    const all = [...(found.get(partition) ?? []), ...records];
    found.set(partition, fromBeginning ? all.slice(0, count) : all.slice(-count));
    if (fromBeginning && held.every(isRead)) throw new Enough();
  };
  try {
    await readTopic({ kafka, admin, log, model, topic, from: new Map(starts), receive });
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
  return chosenRecords(found, count, fromBeginning);
}

export function chosenRecords(
  found: ReadonlyMap<number, readonly LogRecord[]>,
  count: number,
  fromBeginning: boolean,
): PlacedRecord[] {
  const all = [...found].flatMap(([partition, records]) =>
    records.map((record) => ({ partition, record })),
  );
  all.sort(
    (a, b) =>
      a.record.timestamp - b.record.timestamp ||
      a.partition - b.partition ||
      a.record.offset - b.record.offset,
  );
  return fromBeginning ? all.slice(0, count) : all.slice(-count);
}
