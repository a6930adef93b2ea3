import { NO_FACTS } from '@freshet/store';
import { expect, it } from 'vitest';
import { encodeIntakeMark } from './intake-mark.ts';
import { ratingsDue, recordsBehind, unreadRecords } from './records-behind.ts';

const range = { start: 20, end: 90 };

it('the lag of a partition is what its log has that nobody has read', () => {
  expect(unreadRecords(range, 60)).toBe(30);
  expect(unreadRecords(range, 90)).toBe(0);
  expect(unreadRecords(range, null)).toBe(70);
});

it('the lag of a partition counts what was deleted unread, and nothing of a topic created anew', () => {
  expect(unreadRecords(range, 5)).toBe(85);
  expect(unreadRecords(range, 400)).toBe(0);
});

it('user shards are due to apply what was sent to them and what intake has still to read', () => {
  const mark = { topicId: 'one', life: 3, sent: { count: 7, sum: 0 } };
  const source = { topic: 'views', partition: 0, ...range, position: 60, mark };
  expect(ratingsDue(source)).toBe(7 + 30);
});

it('the lag of each stage is the sum over its partitions, and of intake all of it after a rebuild', async () => {
  const metadata = encodeIntakeMark({ topicId: 'one', life: 3, sent: { count: 7, sum: 0 } });
  const behind = (rebuilt: number) =>
    recordsBehind({
      admin: {
        exists: async () => true,
        topicId: async () => 'one',
        committed: async () => new Map([[1, { offset: 60, metadata }]]),
        ranges: async () => new Map([0, 1].map((partition) => [partition, range])),
      },
      store: {
        birth: async () => ({ born: rebuilt, rebuilt }),
        head: async ({ side, shard }) => {
          const position = side === 'user' ? 80 + shard : null;
          return { position, fence: null, commit: null, facts: NO_FACTS };
        },
      },
      model: 'm',
      sources: ['views'],
    });
  expect(await behind(3)).toEqual({ intake: 70 + 30, user: 10 + 9, item: 140 });
  expect((await behind(4)).intake).toBe(140);
});
