import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogRecord } from './log-record.ts';
import { PartitionFeed } from './partition-feed.ts';

const record = (offset: number, bytes = 10): LogRecord => ({
  offset,
  timestamp: 0,
  key: null,
  value: Buffer.alloc(bytes),
  headers: {},
});

function drain(feed: PartitionFeed) {
  const slices = [];
  for (let slice = feed.take(); slice !== undefined; slice = feed.take()) slices.push(slice);
  return slices;
}

describe('what is fetched of a partition', () => {
  it('is taken together, however many fetches brought it', () => {
    const feed = new PartitionFeed(5);
    feed.push([record(5), record(6)], 7);
    feed.push([record(7)], 8);
    const slices = drain(feed);
    expect(slices.map(({ records }) => records.map(({ offset }) => offset))).toEqual([[5, 6, 7]]);
    expect(slices[0]?.next).toBe(8);
  });

  it('moves on over holes, and over fetches without any record', () => {
    const feed = new PartitionFeed(0);
    feed.push([record(0), record(3)], 9);
    feed.push([], 12);
    expect(drain(feed).map(({ next }) => next)).toEqual([12]);
    feed.push([], 20);
    expect(drain(feed)).toEqual([{ records: [], next: 20 }]);
  });

  it('leaves out what is already there: before the start, or fetched twice', () => {
    const feed = new PartitionFeed(4);
    feed.push([record(2), record(3), record(4)], 5);
    feed.push([record(3), record(4)], 5);
    expect(drain(feed).flatMap(({ records }) => records.map(({ offset }) => offset))).toEqual([4]);
  });

  it('comes in batches of bounded length, a long record in one of its own', () => {
    const feed = new PartitionFeed(0);
    feed.push(
      Array.from({ length: 2_500 }, (_, at) => record(at)),
      2_500,
    );
    expect(drain(feed).map(({ next }) => next)).toEqual([1_000, 2_000, 2_500]);
    feed.push([record(2_500), record(2_501, 1 << 20), record(2_502)], 2_503);
    expect(drain(feed).map(({ next }) => next)).toEqual([2_501, 2_502, 2_503]);
  });

  it('can be looked at before it is taken, a slice at a time, as often as one likes', () => {
    const feed = new PartitionFeed(0);
    expect(feed.peek()).toBeUndefined();
    feed.push([record(0), record(1, 1 << 20)], 5);
    feed.push([], 9);
    expect([feed.peek(), feed.peek()].map((slice) => slice?.next)).toEqual([1, 1]);
    expect(feed.take()?.next).toBe(1);
    expect(feed.peek()?.records.map(({ offset }) => offset)).toEqual([1]);
    expect(feed.peek()?.next).toBe(9);
    expect(feed.isFull).toBe(false);
    expect(feed.take()?.next).toBe(9);
    expect([feed.peek(), feed.take()]).toEqual([undefined, undefined]);
  });

  it('is full while more waits than is soon applied', () => {
    const feed = new PartitionFeed(0);
    feed.push([record(0, 9 << 20), record(1)], 2);
    expect(feed.isFull).toBe(true);
    feed.take();
    expect(feed.isFull).toBe(false);
  });

  it('comes whole and in order, whatever the fetches', () => {
    const fetches = fc.array(fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 9 }));
    fc.assert(
      fc.property(fetches, (steps) => {
        const feed = new PartitionFeed(0);
        const sent: number[] = [];
        let [offset, end] = [0, 0];
        const found: number[] = [];
        for (const [at, gaps] of steps.entries()) {
          const records = gaps.map((gap) => {
            offset += gap;
            return record(offset, 30_000);
          });
          sent.push(...records.map((each) => each.offset));
          end = offset + 1;
          feed.push(records, end);
          const seen = feed.peek();
          const slice = at % 3 === 0 ? feed.take() : undefined;
          if (slice !== undefined) expect(seen).toEqual(slice);
          found.push(...(slice?.records ?? []).map((each) => each.offset));
        }
        const rest = drain(feed);
        found.push(...rest.flatMap(({ records }) => records.map((each) => each.offset)));
        expect(found).toEqual(sent);
        if (rest.length > 0) expect(rest.at(-1)?.next).toBe(end);
      }),
      { seed: 11, numRuns: 300 },
    );
  });
});
