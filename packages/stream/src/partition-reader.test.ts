/** The reading loop against a consumer that hands over batches by hand. */
import { openLog } from '@freshet/telemetry';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LogRecord } from './log-record.ts';
import { PartitionReader } from './partition-reader.ts';

type Listener = (event: { payload: object }) => void;
type EachBatch = (payload: object) => Promise<void>;

/** As much of kafkajs as the reader uses. */
class HandConsumer {
  readonly events = { GROUP_JOIN: 'join', CRASH: 'crash', HEARTBEAT: 'beat', FETCH_START: 'fetch' };
  readonly listeners: [string, Listener][] = [];
  readonly seeks: number[] = [];
  eachBatch: EachBatch = async () => {};
  on = (name: string, listener: Listener) => void this.listeners.push([name, listener]);
  connect = async () => {};
  subscribe = async () => {};
  run = async ({ eachBatch }: { eachBatch: EachBatch }) => {
    this.eachBatch = eachBatch;
  };
  pause = () => {};
  resume = () => {};
  seek = ({ offset }: { offset: string }) => void this.seeks.push(Number(offset));
  commitOffsets = async () => {};
  disconnect = async () => {};

  join(partitions: number[]): void {
    for (const [name, listener] of this.listeners) {
      if (name === 'join') listener({ payload: { memberAssignment: { log: partitions } } });
    }
  }

  /** Hands over records at these offsets of partition 0. */
  async fetch(...offsets: number[]): Promise<void> {
    const messages = offsets.map((offset) => ({ offset: String(offset), timestamp: '0' }));
    await this.eachBatch({
      batch: { partition: 0, messages, lastOffset: () => String(offsets.at(-1)) },
      resolveOffset: () => {},
      heartbeat: async () => {},
      isStale: () => false,
    });
  }
}

class Owner {
  readonly applied: number[][] = [];
  readonly released: number[] = [];
  position = 0;
  apply0: () => Promise<boolean> = async () => true;

  takeOver = async () => this.position;
  apply = async (_: number, records: readonly LogRecord[], next: number) => {
    const offsets = records.map(({ offset }) => offset);
    const isApplied = await this.apply0();
    if (isApplied) {
      this.applied.push(offsets);
      this.position = next;
    }
    return isApplied;
  };
  release = (partition: number) => void this.released.push(partition);
}

async function start() {
  const consumer = new HandConsumer();
  const owner = new Owner();
  const failures: unknown[] = [];
  const options = {
    groupId: 'g',
    topic: 'log',
    log: openLog('reader', 'silent'),
    fail: (error: unknown) => void failures.push(error),
    sessionMs: 10_000,
  };
  const kafka = { consumer: () => consumer } as object;
  const reader = new PartitionReader(
    kafka as ConstructorParameters<typeof PartitionReader>[0],
    options,
    owner,
  );
  await reader.start();
  consumer.join([0]);
  await vi.waitFor(() => expect(reader.settled).toBe(true));
  return { consumer, owner, failures, reader };
}

afterEach(() => vi.useRealTimers());

describe('the reading loop', () => {
  it('goes on fetching while a batch is applied, and applies what came as the next one', async () => {
    const { consumer, owner, reader } = await start();
    let go: () => void = () => {};
    owner.apply0 = () => new Promise((resolve) => (go = () => resolve(true)));
    await consumer.fetch(0);
    await consumer.fetch(1, 2);
    await consumer.fetch(3);
    owner.apply0 = async () => true;
    go();
    await vi.waitFor(() => expect(reader.positions.get(0)).toBe(4));
    expect(owner.applied).toEqual([[0], [1, 2, 3]]);
    await reader.close();
  });

  it('takes a partition over again when a batch was refused, from where the owner says', async () => {
    const { consumer, owner, reader } = await start();
    await consumer.fetch(0, 1);
    await vi.waitFor(() => expect(reader.positions.get(0)).toBe(2));
    owner.position = 1;
    let refusals = 1;
    owner.apply0 = async () => refusals-- <= 0;
    await consumer.fetch(2);
    await vi.waitFor(() => expect(consumer.seeks).toEqual([0, 1]));
    await consumer.fetch(1, 2);
    await vi.waitFor(() => expect(reader.positions.get(0)).toBe(3));
    expect(owner.applied).toEqual([
      [0, 1],
      [1, 2],
    ]);
    await reader.close();
  });

  it('tries again what failed, from where the owner says, and gives up when it goes on failing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] });
    const { consumer, owner, failures, reader } = await start();
    const trouble = new Error('somebody else is away');
    owner.apply0 = async () => {
      throw trouble;
    };
    for (let tries = 1; failures.length === 0 && tries < 20; tries++) {
      await consumer.fetch(0);
      await vi.advanceTimersByTimeAsync(30_000);
      if (failures.length === 0)
        await vi.waitFor(() => expect(consumer.seeks.length).toBe(tries + 1));
    }
    expect(failures).toEqual([trouble]);
    expect(consumer.seeks.length).toBeGreaterThan(3);
    await reader.close();
  });

  it('applies nothing more of a partition that went to another process', async () => {
    const { consumer, owner, reader } = await start();
    let go: () => void = () => {};
    owner.apply0 = () => new Promise((resolve) => (go = () => resolve(true)));
    await consumer.fetch(0);
    await consumer.fetch(1);
    consumer.join([]);
    go();
    await new Promise((resolve) => setImmediate(resolve));
    expect(owner.applied).toEqual([[0]]);
    expect(owner.released).toEqual([0]);
    expect(reader.positions.size).toBe(0);
    await reader.close();
  });
});
