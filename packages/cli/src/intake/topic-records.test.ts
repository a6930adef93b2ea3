import type { LogRecord } from '@freshet/stream';
import { expect, it } from 'vitest';
import { chosenRecords } from './topic-records.ts';

function record(offset: number, timestamp: number): LogRecord {
  return { offset, timestamp, key: null, value: null, headers: {} };
}

it('the first or last records of a topic are chosen over its partitions, by timestamp', () => {
  const found = new Map([
    [0, [record(5, 10), record(6, 30), record(7, 30)]],
    [1, [record(0, 20), record(1, 30)]],
    [2, []],
  ]);
  const places = (count: number, fromBeginning: boolean) =>
    chosenRecords(found, count, fromBeginning).map(
      ({ partition, record: { offset } }) => `${partition}@${offset}`,
    );
  expect(places(2, true)).toEqual(['0@5', '1@0']);
  expect(places(3, false)).toEqual(['0@6', '0@7', '1@1']);
  expect(places(99, false)).toHaveLength(5);
});
