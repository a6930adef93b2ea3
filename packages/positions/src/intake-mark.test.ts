import { NO_TALLY } from '@freshet/store';
import { describe, expect, it } from 'vitest';
import {
  decodeIntakeMark,
  encodeIntakeMark,
  intakeGroup,
  readSources,
  sourceName,
} from './intake-mark.ts';

const mark = { topicId: 'Xy3k', life: 4, sent: { count: 7, sum: 2 ** 48 - 1 } };

describe('what intake tells Kafka with an offset', () => {
  it('comes back as it was told', () => {
    expect(decodeIntakeMark(encodeIntakeMark(mark), 'now')).toEqual(mark);
  });

  it('is nothing where somebody else has set the offset, of the topic that is', () => {
    const nothing = { topicId: 'now', life: 0, sent: NO_TALLY };
    for (const text of ['', 'reset by hand', '{}', '[]', '[1,2,3,4]', '["a",1,2.5,3]', 'null']) {
      expect(decodeIntakeMark(text, 'now'), text).toEqual(nothing);
    }
  });
});

describe('the sources', () => {
  const admin = {
    exists: async (topic: string) => topic !== 'missing',
    topicId: async (topic: string) => (topic === 'old-broker' ? undefined : `id of ${topic}`),
    committed: async (groupId: string, topic: string) => {
      expect(groupId).toBe(intakeGroup('m', topic));
      return new Map([[1, { offset: 5, metadata: encodeIntakeMark(mark) }]]);
    },
    ranges: async () =>
      new Map([
        [0, { start: 0, end: 3 }],
        [1, { start: 2, end: 9 }],
      ]),
  };

  it('are all partitions of all topics that there are, with how far each is read', async () => {
    const found = await readSources(admin, 'm', ['views', 'missing', 'old-broker']);
    expect(found.map(({ topic, partition, position }) => [topic, partition, position])).toEqual([
      ['views', 0, null],
      ['views', 1, 5],
      ['old-broker', 0, null],
      ['old-broker', 1, 5],
    ]);
    expect(found[1]).toMatchObject({ start: 2, end: 9, mark });
    expect(found[0]?.mark.topicId).toBe('id of views');
    expect(found[2]?.mark.topicId).toBe('old-broker');
    expect(sourceName('views', 'Xy3k', 1)).toBe('views@Xy3k:1');
  });
});
