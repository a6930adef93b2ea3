import { describe, expect, it } from 'vitest';
import { MemoryLog } from './memory-log.ts';

const record = (topic: string, partition: number, text: string) => ({
  topic,
  partition,
  key: null,
  value: Buffer.from(text),
});

describe('topics in memory', () => {
  it('have as many partitions as they were told, or are not there', async () => {
    const log = new MemoryLog((topic) => ({ views: 7, claims: 1 })[topic] ?? 0);
    expect([log.partitionsOf('views'), log.partitionsOf('claims')]).toEqual([7, 1]);
    expect((await log.ranges('views')).size).toBe(7);
    expect(await log.exists('views')).toBe(true);
    expect(await log.exists('missing')).toBe(false);
    expect(await log.topicId('missing')).toBeUndefined();
    await expect(log.append(record('claims', 1, 'a'))).rejects.toThrow(/no partition 1/);
  });

  it('get partitions added under way, and stay the topic they were', async () => {
    const log = new MemoryLog(2);
    await log.append(record('views', 1, 'a'));
    const id = await log.topicId('views');
    log.addPartitions('views', 5);
    log.addPartitions('views', 3);
    expect(await log.append(record('views', 4, 'b'))).toBe(0);
    expect(await log.ends('views')).toEqual(
      new Map([
        [0, 0],
        [1, 1],
        [2, 0],
        [3, 0],
        [4, 1],
      ]),
    );
    expect(await log.topicId('views')).toBe(id);
    log.recreate('views');
    expect(await log.topicId('views')).not.toBe(id);
    expect(log.partitionsOf('views')).toBe(2);
  });

  it('keep what a group told of its offsets, with its remark', async () => {
    const log = new MemoryLog(2);
    log.commit('g', 'views', 0, 5, 'five');
    log.commit('g', 'views', 1, 6);
    log.commit('g', 'views', 0, 7, 'seven');
    expect(await log.committed('g', 'views')).toEqual(
      new Map([
        [0, { offset: 7, metadata: 'seven' }],
        [1, { offset: 6, metadata: '' }],
      ]),
    );
    expect(await log.committed('other', 'views')).toEqual(new Map());
    await log.deleteGroup('g');
    expect(await log.committed('g', 'views')).toEqual(new Map());
  });

  it('show the first record from an offset on that is still held', async () => {
    const log = new MemoryLog(1);
    for (const text of ['a', 'b', 'c']) await log.append(record('views', 0, text));
    const peeked = async (offset: number) =>
      (await log.peek('views', 0, offset)).map(({ offset, value }) => `${offset} ${value}`);
    expect(await peeked(1)).toEqual(['1 b']);
    log.cut('views', 0, 2);
    expect(await peeked(0)).toEqual(['2 c']);
    expect(await peeked(3)).toEqual([]);
  });
});
