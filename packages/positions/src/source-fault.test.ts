import { NO_FACTS } from '@freshet/store';
import { describe, expect, it } from 'vitest';
import { claimsAreBehind, lookAtSource, sourceFault } from './source-fault.ts';

const log = (start: number, end: number, topicId?: string) => ({
  topic: 'ratings',
  partition: 3,
  range: { start, end },
  topicId,
});
const at = (position: number | null, topicId: string | null = null) => ({ position, topicId });
const first = { born: 0, rebuilt: 0 };

describe('a shard that holds nothing', () => {
  it('needs the whole log, also in a store that has never lost anything that it knows of', () => {
    for (const birth of [first, { born: 12, rebuilt: 0 }]) {
      expect(sourceFault(log(0, 90), at(null), birth)).toBeUndefined();
      expect(sourceFault(log(40, 90), at(null), birth)).toMatchObject({
        kind: 'store-lost',
        verdict: 'hold',
        message: expect.stringMatching(
          /ratings\/3: the store lost this shard, and ratings no longer .* \(offsets 0 to 39 .*freshet rebuild/,
        ),
      });
    }
  });

  it('begins wherever the log begins while the model is rebuilt from its sources', () => {
    const rebuilt = { born: 12, rebuilt: 12 };
    expect(sourceFault(log(40, 90), at(null), rebuilt)).toBeUndefined();
    // The store was lost again after the rebuild: this time nobody reads the sources again.
    const since = { born: 15, rebuilt: 12 };
    expect(sourceFault(log(40, 90), at(null), since)?.kind).toBe('store-lost');
  });
});

describe('a shard that goes on', () => {
  it('finds the next record, or the end', () => {
    expect(sourceFault(log(40, 90), at(40), first)).toBeUndefined();
    expect(sourceFault(log(40, 90), at(90), first)).toBeUndefined();
  });

  it('misses records that were deleted', () => {
    expect(sourceFault(log(40, 90), at(30), first)).toMatchObject({
      kind: 'cut',
      message: expect.stringMatching(/offsets 30 to 39 were deleted .*freshet sources --accept/),
    });
  });

  it('knows a topic that was created anew, by its end or by its id', () => {
    expect(sourceFault(log(0, 29), at(30), first)?.kind).toBe('recreated');
    const known = at(30, 'one');
    expect(sourceFault(log(0, 500, 'two'), known, first)?.kind).toBe('recreated');
    expect(sourceFault(log(0, 500, 'one'), known, first)).toBeUndefined();
    expect(sourceFault(log(0, 500), known, first)).toBeUndefined();
  });
});

describe('the log of a shard', () => {
  const look = (position: number | null, topicId: string | null = 'one') => {
    const admin = {
      ranges: async () => new Map([[2, { start: 40, end: 90 }]]),
      topicId: async () => 'one',
    };
    const facts = { ...NO_FACTS, topicId };
    const source = { admin, topic: 'm.user-ratings', agreement: first };
    return lookAtSource(source, { side: 'user', shard: 2 }, { position, facts });
  };

  it('is looked at with what the shard knows of its topic', async () => {
    expect(await look(60)).toMatchObject({ range: { start: 40, end: 90 }, fault: undefined });
    expect((await look(60, 'another')).fault?.kind).toBe('recreated');
    expect((await look(30)).fault?.kind).toBe('cut');
    expect((await look(null)).fault?.kind).toBe('store-lost');
  });

  it('cannot be written to by claims that lie below its fence', async () => {
    const admin = { ranges: async () => new Map([[0, { start: 0, end: 5 }]]) };
    expect(await claimsAreBehind(admin, 'm', { fence: 5 })).toBe(false);
    expect(await claimsAreBehind(admin, 'm', { fence: 6 })).toBe(true);
    expect(await claimsAreBehind(admin, 'm', { fence: null })).toBe(false);
  });
});
