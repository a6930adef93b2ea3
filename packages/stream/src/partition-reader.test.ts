/** The partition reader with a fake consumer, which a test feeds batch by batch. */
import { ServerAway } from '@freshet/telemetry';
import { pass, startReader as start, useFakeTime } from '@freshet/testkit';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LogFault } from './log-fault.ts';
import type { LogRecord } from './log-record.ts';

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

  it('lets records gather after each fetch, but not while there are more already', async () => {
    useFakeTime();
    const { consumer, reader } = await start('hold', { gatherMs: 50 });
    const at = (offset: number) => [{ offset: String(offset), timestamp: '0' }];
    await consumer.hand(at(0), 2);
    let isHandled = false;
    const last = consumer.hand(at(1), 2).then(() => {
      isHandled = true;
    });
    await vi.advanceTimersByTimeAsync(49);
    expect(isHandled).toBe(false);
    expect(reader.positions.get(0)).toBe(2);
    await vi.advanceTimersByTimeAsync(1);
    await last;
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

  it('shows an owner that wants to know it what waits behind a batch, once it has read the batch', async () => {
    const { consumer, owner, reader } = await start();
    const story: string[] = [];
    const told = (records: readonly LogRecord[]) => records.map(({ offset }) => offset).join();
    let go: () => void = () => {};
    owner.prepare = (_, records) => void story.push(`prepare ${told(records)}`);
    owner.apply0 = (offsets) => {
      story.push(`apply ${offsets.join()}`);
      return new Promise((resolve) => (go = () => resolve(true)));
    };
    const long = (offset: number) => ({ offset: String(offset), value: Buffer.alloc(90_000) });
    await consumer.hand([long(0), long(1), long(2)]);
    await vi.waitFor(() => expect(story).toEqual(['apply 0', 'prepare 1']));
    go();
    await vi.waitFor(() => expect(story.slice(2)).toEqual(['apply 1', 'prepare 2']));
    go();
    await vi.waitFor(() => expect(story.slice(4)).toEqual(['apply 2']));
    go();
    await vi.waitFor(() => expect(reader.positions.get(0)).toBe(3));
    await reader.close();
  });

  it('lets an owner that wants to consume do so without records, within a second, while nothing comes', async () => {
    useFakeTime();
    const { consumer, owner, reader } = await start();
    await consumer.fetch(0);
    await pass(consumer, 1_000);
    expect(owner.applied).toEqual([[0]]);
    let wishes = 2;
    owner.wantsToConsume = () => wishes-- > 0;
    await pass(consumer, 1_000);
    expect(owner.applied).toEqual([[0], [], []]);
    expect(reader.positions.get(0)).toBe(1);
    await consumer.fetch(1);
    await pass(consumer, 1_000);
    expect(owner.applied).toEqual([[0], [], [], [1]]);
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
    consumer.say('end', { partition: 0, firstOffset: '2', lastOffset: '2' });
    await vi.waitFor(() => expect(reader.positions.get(0)).toBe(3));
    await reader.close();
  });

  it('passes no markers that were fetched before it sought what lies in front of them', async () => {
    const { consumer, owner, reader } = await start();
    consumer.say('end', { partition: 0, firstOffset: '8', lastOffset: '9' });
    await consumer.fetch(0, 1);
    await vi.waitFor(() => expect(owner.applied).toEqual([[0, 1]]));
    expect(reader.positions.get(0)).toBe(2);
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

  it('that Kafka does not allow to read ends the process, which says what is missing', async () => {
    const { consumer, reader, failures } = await start();
    const refusal = Object.assign(new Error('no'), { type: 'GROUP_AUTHORIZATION_FAILED' });
    // As kafkajs does it: the type is in the cause.
    const error = new Error('not retried', { cause: refusal });
    consumer.say('crash', { restart: false, error });
    expect(failures.map(String)).toEqual([
      expect.stringMatching(/not allow this user to read the topic \S+ in the group \S+ \(Read/),
    ]);
    await reader.close();
  });
});

describe('a topic that gets more partitions', () => {
  it('is read by a fresh consumer within seconds, and by one only', async () => {
    useFakeTime();
    const { consumers, consumer, owner, reader, log, failures } = await start();
    await consumer.fetch(0);
    await pass(consumer, 3_000);
    expect(consumers.length).toBe(1);
    log.partitions = 3;
    await pass(consumer, 4_000);
    const [, fresh] = consumers;
    if (fresh === undefined) throw new Error('no fresh consumer');
    expect(consumer.isConnected).toBe(false);
    fresh.join([0, 1, 2]);
    await pass(fresh, 10_000);
    expect([...reader.positions.keys()]).toEqual([0, 1, 2]);
    expect(consumers.length).toBe(2);
    await fresh.fetch(1);
    await pass(fresh, 10);
    expect(owner.applied.flat()).toEqual([0, 1]);
    expect(failures).toEqual([]);
    await reader.close();
  });
});
