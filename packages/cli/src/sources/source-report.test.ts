import { encodeIntakeMark } from '@freshet/positions';
import { MemoryStore, NO_TALLY } from '@freshet/store';
import { expect, it } from 'vitest';
import { acceptSource } from './accept-source.ts';
import { reportSources } from './source-report.ts';

type Sources = Parameters<typeof reportSources>[0];

const mark = encodeIntakeMark({ topicId: 'id-clicks', life: 0, sent: NO_TALLY });

/**
 * Intake is at 10 in both partitions of `clicks`, of which the first was cut; `gone` does not
 * exist.
 */
const admin: Sources['admin'] = {
  exists: async (topic) => topic !== 'gone',
  topicId: async (topic) => `id-${topic}`,
  peek: async () => [],
  committed: async (group) => {
    const at = { offset: 10, metadata: mark };
    const places: [number, typeof at][] = [
      [0, at],
      [1, at],
    ];
    return new Map(group === 'm.intake.clicks' ? places : []);
  },
  ranges: async (topic) => {
    if (topic !== 'clicks') return new Map([[0, { start: 0, end: 0 }]]);
    return new Map([
      [1, { start: 0, end: 14 }],
      [0, { start: 12, end: 20 }],
    ]);
  },
};

it('a report tells of every partition who reads it, how far, and what is wrong', async () => {
  const store = new MemoryStore();
  const sources = { store, admin, model: 'm', shards: 1, topics: ['clicks', 'gone'] };
  const lines = (await reportSources(sources)).map(({ reader, topic, partition, state, lag }) => {
    return [reader, `${topic}/${partition}`, state, lag];
  });
  expect(lines).toEqual([
    ['intake', 'clicks/0', 'cut', 10],
    ['intake', 'clicks/1', 'ok', 4],
    ['intake', 'gone/0', 'absent', 0],
    ['user', 'm.user-ratings/0', 'ok', 0],
    ['item', 'm.item-ratings/0', 'ok', 0],
  ]);
});

it('a loss of a source that was accepted is no longer one, and is listed', async () => {
  const store = new MemoryStore();
  const sources = { store, admin, model: 'm', shards: 1, topics: ['clicks'] };
  const [cut] = await reportSources(sources);
  if (cut === undefined) throw new Error('nothing was found');
  expect([cut.position, cut.next]).toEqual([10, 12]);
  const now = () => new Date('2025-01-02T03:04:05Z');
  const publisher = { append: async () => 0 };
  await acceptSource({ store, publisher, model: 'm', factorCount: 2, now }, cut);
  const [after] = await reportSources(sources);
  expect(after).toMatchObject({ state: 'ok', position: 12, from: 10, accepted: [{ kind: 'cut' }] });
});
