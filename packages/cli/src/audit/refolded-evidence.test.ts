import { type CheckedItemRatings, ItemRatingPack, packedRatings } from '@freshet/events';
import { defaultModel, Evidence, hashId } from '@freshet/model';
import { NO_FACTS, type ShardFacts } from '@freshet/store';
import { describe, expect, it } from 'vitest';
import { Findings } from './check.ts';
import { RefoldedEvidence, whyNotRefolded } from './refolded-evidence.ts';
import type { ShardReading } from './shard-reading.ts';

const K = 2;
const settings = { ...defaultModel, factorCount: K };

interface Sent {
  readonly item: string;
  readonly value: number | null;
  readonly old?: number;
  readonly offset: number;
  readonly life?: number;
  readonly vector?: readonly [number, number];
}

/** One record of item-ratings. */
function recordOf(sent: readonly Sent[]): CheckedItemRatings {
  const pack = new ItemRatingPack();
  for (const { item, value, old = null, offset, vector = [1, offset] } of sent) {
    const place = { sourceOffset: offset, ordinal: 0 };
    const by = {
      byNewcomer: false,
      before: [],
      userBias: 0,
      vector: Float32Array.from(vector),
    };
    pack.add({ item, value, old, time: 1, ...place, ...by });
  }
  const life = sent[0]?.life ?? 3;
  const { bytes: entries } = pack;
  const ratings = [...packedRatings(entries, K)];
  return { sourceShard: 0, life, produced: 1, factorCount: K, entries, ratings };
}

function evidenceOf(...pairs: [value: number, old: number | null, offset: number][]): Uint8Array {
  const evidence = Evidence.empty(settings);
  for (const [value, old, offset] of pairs) {
    evidence.amend({ value, old, vector: Float32Array.of(1, offset) }, hashId('tea', offset));
  }
  return evidence.toBytes();
}

function readingOf(
  bodies: Record<string, Uint8Array>,
  { position = 9, ...facts }: Partial<ShardFacts> & { position?: number } = {},
): ShardReading {
  const head = { position, fence: 1, commit: 'c', sums: null, outbox: null };
  return {
    id: { side: 'item', shard: 0 },
    state: { ...head, facts: { ...NO_FACTS, ...facts } },
    vectors: new Map(),
    bodies: new Map(Object.entries(bodies)),
    still: true,
  };
}

function problemsOf(reading: ShardReading, records: readonly CheckedItemRatings[]): string {
  const fold = new RefoldedEvidence(reading, settings);
  for (const [offset, record] of records.entries()) fold.receive(offset, record);
  const findings = new Findings();
  fold.compare(findings);
  return findings.check('refold', '').problems.join();
}

const first = { item: 'tea', value: 4, offset: 5 };
const changed = { item: 'tea', value: 2, old: 4, offset: 6 };

describe('evidence that is added up again', () => {
  it('is what is stored, however its entries were packed and repeated', () => {
    const reading = readingOf({ tea: evidenceOf([4, null, 5], [2, 4, 6]) });
    expect(problemsOf(reading, [recordOf([first, changed])])).toBe('');
    const again = { ...first, vector: [9, 9] } as const;
    const repeated = [recordOf([first]), recordOf([again, changed]), recordOf([again])];
    expect(problemsOf(reading, repeated)).toBe('');
  });

  it('leaves nothing of an item whose last rating was taken back', () => {
    const back = { item: 'tea', value: null, old: 4, offset: 7 };
    expect(problemsOf(readingOf({}), [recordOf([first, back])])).toBe('');
  });

  it('passes over an earlier life, and over what the shard has not applied yet', () => {
    const reading = readingOf({ tea: evidenceOf([4, null, 5]) }, { leastLife: 3, position: 2 });
    const records = [recordOf([{ ...first, life: 2 }]), recordOf([first]), recordOf([changed])];
    expect(problemsOf(reading, records)).toBe('');
  });

  it('names an item that is stored otherwise, not at all, or without a rating in the log', () => {
    const otherwise = readingOf({ tea: evidenceOf([5, null, 5]) });
    expect(problemsOf(otherwise, [recordOf([first])])).toContain('not what the log adds up to');
    expect(problemsOf(readingOf({}), [recordOf([first])])).toContain('the store nothing');
    expect(problemsOf(otherwise, [])).toContain('item "tea": nothing of it in the log');
  });
});

it('a shard is not refolded where the log alone does not tell what it holds', () => {
  const log = { start: 0, end: 9 };
  const loss = { at: '', kind: 'cut', from: 1, next: 2 };
  const why = (facts: Partial<ShardFacts>, range = log) =>
    whyNotRefolded(readingOf({}, { topicId: 'Xy', ...facts }), range, 'Xy');
  expect(why({})).toBeUndefined();
  expect(why({ topicId: null })).toBeUndefined();
  expect(why({}, { start: 1, end: 9 })).toContain('deleted');
  expect(why({ factorized: 4 })).toContain('factorize');
  expect(why({ accepted: [loss] })).toContain('accepted');
  expect(why({ topicId: 'Zz' })).toContain('created anew');
});
