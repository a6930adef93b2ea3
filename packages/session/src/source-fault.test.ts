import { describe, expect, it } from 'vitest';
import { sourceFault } from './source-fault.ts';

const log = (start: number, end: number, topicId?: string) => ({
  topic: 'ratings',
  partition: 3,
  range: { start, end },
  topicId,
});
const shard = (position: number | null, facts: Record<string, string> = {}) => ({
  position,
  facts,
});
const first = { born: 0, mayRebuildFromPart: false };

describe('a shard that holds nothing', () => {
  it('begins with what the log holds', () => {
    expect(sourceFault(log(40, 90), shard(null), first)).toBeUndefined();
  });

  it('that held something before the store lost it needs the whole log', () => {
    const lost = { born: 12, mayRebuildFromPart: false };
    expect(sourceFault(log(0, 90), shard(null), lost)).toBeUndefined();
    expect(sourceFault(log(40, 90), shard(null), lost)).toMatchObject({
      kind: 'store-lost',
      verdict: 'hold',
      message: expect.stringMatching(/ratings\/3: .* offsets 0 to 39 .*REBUILD_FROM_PART=true/),
    });
  });

  it('is known to have held something by what it told Kafka, where the model is not new', () => {
    const told = { ...first, committed: 70 };
    expect(sourceFault(log(40, 90), shard(null), told)?.kind).toBe('store-lost');
  });

  it('may be rebuilt from a part where that is allowed', () => {
    const allowed = { born: 12, mayRebuildFromPart: true };
    expect(sourceFault(log(40, 90), shard(null), allowed)).toBeUndefined();
  });
});

describe('a shard that goes on', () => {
  it('finds the next record, or the end', () => {
    expect(sourceFault(log(40, 90), shard(40), first)).toBeUndefined();
    expect(sourceFault(log(40, 90), shard(90), first)).toBeUndefined();
  });

  it('misses records that were deleted', () => {
    expect(sourceFault(log(40, 90), shard(30), first)).toMatchObject({
      kind: 'cut',
      message: expect.stringMatching(/offsets 30 to 39 were deleted .*freshet sources --accept/),
    });
  });

  it('knows a topic that was created anew, by its end or by its id', () => {
    expect(sourceFault(log(0, 29), shard(30), first)?.kind).toBe('recreated');
    const known = shard(30, { topic: 'one' });
    expect(sourceFault(log(0, 500, 'two'), known, first)?.kind).toBe('recreated');
    expect(sourceFault(log(0, 500, 'one'), known, first)).toBeUndefined();
    expect(sourceFault(log(0, 500), known, first)).toBeUndefined();
  });
});
