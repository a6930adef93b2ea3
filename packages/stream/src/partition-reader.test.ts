/** The reading loop against a consumer that hands over batches by hand. */
import { openLog, ServerAway } from '@freshet/telemetry';
import { HandConsumer } from '@freshet/testkit';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LogFault } from './log-fault.ts';
import type { LogRecord } from './log-record.ts';
import { PartitionReader } from './partition-reader.ts';

class Owner {
  readonly applied: number[][] = [];
  readonly released: number[] = [];
  position = 0;
  apply0: (offsets: readonly number[]) => Promise<boolean> = async () => true;
  takeOver0: () => Promise<void> = async () => {};
  mended = true;
  stored = true;

  takeOver = async () => {
    await this.takeOver0();
    return this.position;
  };
  apply = async (_: number, records: readonly LogRecord[], next: number) => {
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

async function start(onLoss: 'hold' | 'skip' = 'hold') {
  const consumers: HandConsumer[] = [];
  const owner = new Owner();
  const failures: unknown[] = [];
  const log = { start: 0, end: 1_000, id: 'first', looked: async () => {} };
  const options = {
    groupId: 'g',
    topic: 'log',
    admin: {
      ranges: async () => {
        const range = { start: log.start, end: log.end };
        await log.looked();
        return new Map([[0, range]]);
      },
      topicId: async () => log.id,
    },
    log: openLog('reader', 'silent'),
    fail: (error: unknown) => void failures.push(error),
    sessionMs: 10_000,
    onLoss,
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

const useFakeTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'Date'] });

/** Time passes, and the consumer goes on fetching, whether something comes or not. */
async function pass(consumer: HandConsumer, milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= 1_000) {
    consumer.say('fetch');
    await vi.advanceTimersByTimeAsync(Math.min(left, 1_000));
  }
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
    await vi.waitFor(() => expect(go).not.toBe(undefined));
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
    useFakeTime();
    const { consumer, owner, failures, reader } = await start();
    const trouble = new Error('a bug');
    owner.apply0 = async () => {
      throw trouble;
    };
    for (let tries = 1; failures.length === 0 && tries < 20; tries++) {
      await consumer.fetch(0);
      await pass(consumer, 30_000);
    }
    expect(failures[0]).toBe(trouble);
    expect(consumer.seeks.length).toBeGreaterThan(3);
    await reader.close();
  });

  it('gives up also when the owner begins anew each time and applies good records first', async () => {
    useFakeTime();
    const { consumer, owner, failures, reader } = await start();
    owner.apply0 = async (offsets) => {
      if (offsets.includes(5)) throw new Error('record 5 is bad');
      return true;
    };
    for (let tries = 1; failures.length === 0 && tries < 30; tries++) {
      owner.position = 0;
      await consumer.fetch(0, 1, 2, 3, 4);
      await pass(consumer, 100);
      await consumer.fetch(5);
      await pass(consumer, 30_000);
      owner.position = 0;
    }
    expect(failures).toHaveLength(1);
    expect(owner.applied.length).toBeGreaterThan(3);
    await reader.close();
  });

  it('waits for a server that is away, for as long as it takes, to apply and to take over', async () => {
    useFakeTime();
    const { consumer, owner, failures, reader } = await start();
    let isAway = true;
    const away = async () => {
      if (isAway) throw new ServerAway('Redis');
    };
    owner.apply0 = () => away().then(() => true);
    owner.takeOver0 = away;
    await consumer.fetch(0);
    await pass(consumer, 600_000);
    expect(failures).toEqual([]);
    expect(reader.settled).toBe(false);
    isAway = false;
    await pass(consumer, 6_000);
    await consumer.fetch(0);
    await pass(consumer, 10);
    expect(owner.applied).toEqual([[0]]);
    await reader.close();
  });

  it('applies nothing more of a partition that went to another process', async () => {
    const { consumer, owner, reader } = await start();
    let go: () => void = () => {};
    owner.apply0 = () => new Promise((resolve) => (go = () => resolve(true)));
    await consumer.fetch(0);
    await consumer.fetch(1);
    await new Promise((resolve) => setImmediate(resolve));
    consumer.join([]);
    go();
    await new Promise((resolve) => setImmediate(resolve));
    expect(owner.applied).toEqual([[0]]);
    expect(owner.released).toEqual([0]);
    expect(reader.positions.size).toBe(0);
    await reader.close();
  });
});

describe('the log, while it is read', () => {
  it('may have holes: compaction and transaction markers leave them', async () => {
    const { consumer, owner, reader } = await start();
    await consumer.fetch(0, 1);
    await consumer.fetch(7, 9);
    await vi.waitFor(() => expect(reader.positions.get(0)).toBe(10));
    expect(owner.applied.flat()).toEqual([0, 1, 7, 9]);
    await reader.close();
  });

  it('may end with markers alone: the position passes them', async () => {
    const { consumer, reader } = await start();
    await consumer.fetch(0, 1);
    consumer.say('end', { partition: 0, lastOffset: '2' });
    await vi.waitFor(() => expect(reader.positions.get(0)).toBe(3));
    await reader.close();
  });

  it('holds the partition when records were deleted before they were read, until it is mended', async () => {
    useFakeTime();
    const { consumer, owner, reader, failures, log } = await start();
    owner.mended = false;
    await consumer.fetch(0, 1);
    log.start = 500;
    await consumer.fetch(500, 501);
    await pass(consumer, 60_000);
    expect(reader.waitingFor).toMatch(/log\/0: offsets 2 to 499 were deleted .*freshet sources/);
    expect(owner.applied).toEqual([[0, 1]]);
    owner.position = 500;
    owner.mended = true;
    await pass(consumer, 3_000);
    expect(reader.settled).toBe(true);
    await consumer.fetch(500, 501);
    await pass(consumer, 10);
    expect(owner.applied).toEqual([
      [0, 1],
      [500, 501],
    ]);
    expect(failures).toEqual([]);
    await reader.close();
  });

  it('is followed past deleted records where old ones do not matter', async () => {
    const { consumer, owner, reader, log } = await start('skip');
    await consumer.fetch(0);
    log.start = 500;
    await consumer.fetch(500);
    await vi.waitFor(() => expect(reader.positions.get(0)).toBe(501));
    expect(owner.applied.flat()).toEqual([0, 500]);
    await reader.close();
  });

  it('is taken over again when it begins anew, or ends before the position, or has another id', async () => {
    useFakeTime();
    const { consumer, owner, reader, log } = await start();
    await consumer.fetch(0, 1, 2);
    await pass(consumer, 10);
    owner.position = 0;
    await consumer.fetch(0);
    await pass(consumer, 10);
    expect(consumer.seeks).toEqual([0, 0]);
    await consumer.fetch(0, 1, 2);
    await pass(consumer, 5_000);
    log.end = 1;
    owner.position = 0;
    await pass(consumer, 3_000);
    expect(consumer.seeks).toEqual([0, 0, 0]);
    log.id = 'second';
    await pass(consumer, 3_000);
    expect(consumer.seeks).toEqual([0, 0, 0, 0]);
    await reader.close();
  });

  it('is not taken for a shorter one because it grows while it is looked at', async () => {
    useFakeTime();
    const { consumer, reader, log } = await start();
    log.end = 0;
    log.looked = async () => {
      await consumer.fetch(log.end++, log.end++, log.end++);
      await vi.advanceTimersByTimeAsync(1);
    };
    await pass(consumer, 5_000);
    expect(reader.positions.get(0)).toBeGreaterThan(3);
    expect(consumer.seeks).toEqual([0]);
    await reader.close();
  });

  it('is taken over again when the store has lost what was learnt of it, though nothing comes', async () => {
    useFakeTime();
    const { consumer, owner, reader } = await start();
    owner.stored = false;
    await pass(consumer, 2_500);
    owner.stored = true;
    await pass(consumer, 2_500);
    expect(consumer.seeks.length).toBe(2);
    await reader.close();
  });

  it('holds at a batch that cannot be read, after everything before it is applied', async () => {
    const { consumer, owner, reader } = await start();
    owner.mended = false;
    const unreadable = { offset: '9', firstOffset: '2', unreadable: new Error('lz4: corrupt') };
    await consumer.hand([{ offset: '0' }, { offset: '1' }, unreadable]);
    await vi.waitFor(() => expect(reader.waitingFor).toMatch(/offsets 2 to 9 .* lz4: corrupt/));
    expect(owner.applied.flat()).toEqual([0, 1]);
    await reader.close();
  });

  it('holds what only a person can decide, also when it is found while taking over', async () => {
    useFakeTime();
    const { consumer, owner, reader, failures } = await start();
    owner.takeOver0 = async () => {
      throw new LogFault('recreated', { topic: 'log', partition: 0 }, 'it was created anew');
    };
    consumer.join([0]);
    await pass(consumer, 60_000);
    expect(reader.waitingFor).toMatch(/created anew/);
    expect(failures).toEqual([]);
    await reader.close();
  });
});

describe('a consumer', () => {
  it('that hangs while Kafka answers is replaced by a fresh one, in the same process', async () => {
    useFakeTime();
    const { consumers, owner, reader, failures } = await start();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(consumers.length).toBe(2);
    expect(consumers[0]?.isConnected).toBe(false);
    consumers[1]?.join([0]);
    await vi.advanceTimersByTimeAsync(10);
    await consumers[1]?.fetch(0);
    await vi.advanceTimersByTimeAsync(10);
    expect(owner.applied).toEqual([[0]]);
    expect(failures).toEqual([]);
    await reader.close();
  });

  it('that shows signs of life is kept', async () => {
    useFakeTime();
    const { consumer, consumers, reader } = await start();
    for (let second = 0; second < 60; second++) {
      consumer.say('fetch');
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(consumers.length).toBe(1);
    await reader.close();
  });

  it('that waits for the others of its group is given more time', async () => {
    useFakeTime();
    const { consumer, consumers, reader } = await start();
    consumer.say('rebalancing');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(consumers.length).toBe(1);
    await reader.close();
  });

  it('that breaks down for good is replaced too', async () => {
    useFakeTime();
    const { consumer, consumers, reader, failures } = await start();
    consumer.say('crash', { restart: false, error: new TypeError('deep inside') });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(consumers.length).toBe(2);
    expect(failures).toEqual([]);
    await reader.close();
  });
});
