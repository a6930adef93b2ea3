/** A partition reader whose consumer, owner and log are controlled by a test. */
import { type LogRecord, PartitionReader } from '@freshet/stream';
import { openLog } from '@freshet/telemetry';
import { expect, vi } from 'vitest';
import { HandConsumer } from './hand-consumer.ts';

/** An owner that applies every batch, unless a test replaces its methods. */
class HandOwner {
  readonly applied: number[][] = [];
  readonly released: number[] = [];
  position = 0;
  apply0: (offsets: readonly number[]) => Promise<boolean> = async () => true;
  takeOver0: () => Promise<void> = async () => {};
  mended = true;
  stored = true;
  wantsToConsume?: () => boolean;
  prepare?: (partition: number, records: readonly LogRecord[]) => void;
  remark?: (partition: number, position: number) => string | undefined;

  takeOver = async () => {
    await this.takeOver0();
    return this.position;
  };
  consume = async (_: number, records: readonly LogRecord[], next: number) => {
    const offsets = records.map(({ offset }) => offset);
    const isApplied = await this.apply0(offsets);
    if (isApplied) {
      this.applied.push(offsets);
      this.position = next;
    }
    return isApplied;
  };
  release = (partition: number) => void this.released.push(partition);
  isStored = async () => this.stored;
  isMended = async () => this.mended;
}

export async function startReader(
  onLoss: 'hold' | 'skip' = 'hold',
  changes: { commitMs?: number; gatherMs?: number } = {},
) {
  const consumers: HandConsumer[] = [];
  const owner = new HandOwner();
  const failures: unknown[] = [];
  const log = { start: 0, end: 1_000, id: 'first', partitions: 1, looked: async () => {} };
  const options = {
    groupId: 'g',
    topic: 'log',
    admin: {
      ranges: async () => {
        const range = { start: log.start, end: log.end };
        await log.looked();
        return new Map(Array.from({ length: log.partitions }, (_, at) => [at, range]));
      },
      topicId: async () => log.id,
    },
    log: openLog('reader', 'silent'),
    fail: (error: unknown) => void failures.push(error),
    sessionMs: 10_000,
    onLoss,
    ...changes,
  };
  const kafka = {
    consumer: () => {
      const consumer = new HandConsumer();
      consumers.push(consumer);
      return consumer;
    },
  } as object;
  const reader = new PartitionReader(
    kafka as ConstructorParameters<typeof PartitionReader>[0],
    options,
    owner,
  );
  await reader.start();
  const [consumer] = consumers;
  if (consumer === undefined) throw new Error('no consumer');
  consumer.join([0]);
  await vi.waitFor(() => expect(reader.settled).toBe(true));
  return { consumer, consumers, owner, failures, reader, log };
}

export const useFakeTime = () =>
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'Date'] });

/** Lets fake time pass while the consumer keeps fetching. */
export async function pass(consumer: HandConsumer, milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= 1_000) {
    consumer.say('fetch');
    await vi.advanceTimersByTimeAsync(Math.min(left, 1_000));
  }
}
