import type { SourcePartition } from '@freshet/positions';
import { NO_FACTS, NO_MARK, NO_TALLY, type ShardFacts, type ShardHead } from '@freshet/store';
import { describe, expect, it } from 'vitest';
import { claimEpoch, planRebuild } from './rebuild-plan.ts';

function partitionOf(topic: string, partition: number, start: number, end: number, life = 0) {
  const mark = { topicId: topic, life, sent: NO_TALLY };
  return { topic, partition, start, end, position: null, mark } satisfies SourcePartition;
}

function headOf(fence: number | null, facts: Partial<ShardFacts> = {}): ShardHead {
  return { fence, position: null, commit: null, facts: { ...NO_FACTS, ...facts } };
}

const empty = { topics: [], partitions: [], heads: [], birth: null };

describe('a plan to rebuild', () => {
  it('tells what the sources hold and what the store knows', () => {
    const partitions = [partitionOf('clicks', 0, 0, 70), partitionOf('clicks', 1, 0, 30)];
    const heads = [headOf(3, { ratings: 40 }), headOf(3, { ratings: 2 }), headOf(null)];
    const plan = planRebuild({ ...empty, topics: ['clicks'], partitions, heads });
    expect(plan).toMatchObject({ records: 100, known: 42, missing: [] });
  });

  it('names every source of which the beginning is not there', () => {
    const partitions = [
      partitionOf('clicks', 0, 0, 70),
      partitionOf('clicks', 1, 12, 30),
      partitionOf('likes', 0, 0, 0),
      partitionOf('views', 0, 5, 5),
      partitionOf('buys', 0, 0, 0),
      partitionOf('buys', 1, 0, 1),
    ];
    const topics = ['clicks', 'likes', 'views', 'buys', 'gone'];
    expect(planRebuild({ ...empty, topics, partitions }).missing).toEqual([
      'clicks/1: offsets 0 to 11 are deleted',
      'likes: it is empty',
      'views/0: offsets 0 to 4 are deleted',
      'gone: there is no such topic',
    ]);
  });

  it('knows the highest of all fences and lives, wherever it is', () => {
    const mark = { ...NO_MARK, life: 9 };
    const highest = (facts: object) => planRebuild({ ...empty, ...facts }).highest;
    expect(highest({})).toBe(0);
    expect(highest({ birth: { born: 9, rebuilt: 0 } })).toBe(9);
    expect(highest({ partitions: [partitionOf('clicks', 0, 0, 1, 9)] })).toBe(9);
    expect(highest({ heads: [headOf(3), headOf(9)] })).toBe(9);
    expect(highest({ heads: [headOf(3, { life: 9 })] })).toBe(9);
    expect(highest({ heads: [headOf(3, { leastLife: 9 })] })).toBe(9);
    expect(highest({ heads: [headOf(3, { sources: { 2: mark } })] })).toBe(9);
  });
});

it('claims again until the epoch is above what is known, also where the claims topic was created anew', async () => {
  let claims = 4;
  const publisher = { append: async () => claims++ };
  expect(await claimEpoch(publisher, 'm', { key: 'rebuild', least: 3 })).toBe(5);
  expect(await claimEpoch(publisher, 'm', { key: 'rebuild', least: 9 })).toBe(10);
});
