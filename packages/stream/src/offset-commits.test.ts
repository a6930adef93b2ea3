import { type HandConsumer, pass, startReader as start, useFakeTime } from '@freshet/testkit';
import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => vi.useRealTimers());

describe('where a reader is', () => {
  const offsetsOf = (consumer: HandConsumer) => consumer.commits.flat().map(({ offset }) => offset);

  it('is told to Kafka now and then, if it has moved, and at the end', async () => {
    useFakeTime();
    const { consumer, reader } = await start();
    await consumer.fetch(0, 1);
    await pass(consumer, 5_000);
    await consumer.fetch(2);
    await pass(consumer, 100);
    expect(offsetsOf(consumer)).toEqual(['2']);
    await reader.close();
    expect(offsetsOf(consumer)).toEqual(['2', '3']);
  });

  it('is told as often as the option says', async () => {
    useFakeTime();
    const { consumer, reader } = await start('hold', { commitMs: 200 });
    await vi.advanceTimersByTimeAsync(210);
    await consumer.fetch(0);
    await vi.advanceTimersByTimeAsync(200);
    expect(offsetsOf(consumer)).toEqual(['0', '1']);
    await reader.close();
  });

  it('is told with the remark of the owner on that very position, or not at all', async () => {
    useFakeTime();
    const { consumer, owner, reader } = await start();
    const remarks = new Map([[2, 'two']]);
    owner.remark = (partition, position) => {
      expect(partition).toBe(0);
      return remarks.get(position);
    };
    await consumer.fetch(0);
    await pass(consumer, 2_000);
    expect(consumer.commits).toEqual([]);
    await consumer.fetch(1);
    await pass(consumer, 2_000);
    const two = { topic: 'log', partition: 0, offset: '2', metadata: 'two' };
    expect(consumer.commits).toEqual([[two]]);
    await consumer.fetch(2);
    await pass(consumer, 2_000);
    remarks.set(3, '');
    await reader.close();
    expect(consumer.commits).toEqual([[two], [{ ...two, offset: '3', metadata: '' }]]);
  });

  // When an offset is out of range, kafkajs commits the beginning of the log by itself.
  it('is told again and again while the partition is held', async () => {
    useFakeTime();
    const { consumer, owner, reader, log } = await start('hold', { commitMs: 200 });
    owner.mended = false;
    await consumer.fetch(0, 1);
    await vi.advanceTimersByTimeAsync(200);
    log.start = 9;
    await consumer.fetch(9);
    await vi.advanceTimersByTimeAsync(600);
    expect(reader.settled).toBe(false);
    expect(offsetsOf(consumer).slice(-3)).toEqual(['2', '2', '2']);
    await reader.close();
  });

  it('is told once more when Kafka did not take it, one request after the other', async () => {
    useFakeTime();
    const { consumer, reader } = await start('hold', { commitMs: 200 });
    const take = consumer.commitOffsets;
    let refuse: () => void = () => {};
    let requests = 0;
    consumer.commitOffsets = () => {
      requests++;
      return new Promise((_, reject) => (refuse = () => reject(new Error('no coordinator'))));
    };
    await consumer.fetch(0);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(requests).toBe(1);
    consumer.commitOffsets = take;
    await consumer.fetch(1);
    refuse();
    await vi.advanceTimersByTimeAsync(200);
    expect(offsetsOf(consumer)).toEqual(['2']);
    await reader.close();
  });

  it('is told to the end though a request is under way when it ends', async () => {
    const { consumer, reader } = await start('hold', { commitMs: 5 });
    const take = consumer.commitOffsets;
    let go: (() => void) | undefined;
    consumer.commitOffsets = async (offsets) => {
      await new Promise<void>((resolve) => (go = resolve));
      await take(offsets);
    };
    await consumer.fetch(0);
    await vi.waitFor(() => expect(go).toBeDefined());
    await consumer.fetch(1);
    await vi.waitFor(() => expect(reader.positions.get(0)).toBe(2));
    consumer.commitOffsets = take;
    const closing = reader.close();
    go?.();
    await closing;
    expect(offsetsOf(consumer).at(-1)).toBe('2');
  });
});
