/** What would a rebuild read, what is missing from it, and which epoch is above everything before? */
import type { SourcePartition } from '@freshet/positions';
import type { Birth, ShardHead } from '@freshet/store';

interface RebuildFacts {
  /** Topics that ratings come from, whether they exist or not. */
  readonly topics: readonly string[];
  readonly partitions: readonly SourcePartition[];
  /** Of every shard of both sides. */
  readonly heads: readonly ShardHead[];
  readonly birth: Birth | null;
}

export interface RebuildPlan {
  /** Records that the sources hold, each a rating unless it would be parked. */
  readonly records: number;
  /** Ratings that the store knows. */
  readonly known: number;
  /** What is not there to be read, each by its place. */
  readonly missing: readonly string[];
  /** No life of the model, and no fence, was above this. */
  readonly highest: number;
}

export function planRebuild({ topics, partitions, heads, birth }: RebuildFacts): RebuildPlan {
  const marks = partitions.map(({ mark }) => mark.life);
  const lives = heads.flatMap(({ fence, facts }) => [
    fence ?? 0,
    facts.life ?? 0,
    facts.leastLife,
    ...Object.values(facts.sources).map(({ life }) => life),
  ]);
  return {
    records: recordsIn(partitions),
    known: heads.reduce((sum, { facts }) => sum + facts.ratings, 0),
    missing: topics.flatMap((topic) => missingOf(topic, partitions)),
    highest: [...marks, ...lives, birth?.born ?? 0].reduce((a, b) => Math.max(a, b), 0),
  };
}

function missingOf(topic: string, all: readonly SourcePartition[]): string[] {
  const partitions = all.filter((each) => each.topic === topic);
  if (partitions.length === 0) return [`${topic}: there is no such topic`];
  const cut = partitions
    .filter(({ start }) => start > 0)
    .map(({ partition, start }) => `${topic}/${partition}: offsets 0 to ${start - 1} are deleted`);
  return cut.length === 0 && recordsIn(partitions) === 0 ? [`${topic}: it is empty`] : cut;
}

function recordsIn(partitions: readonly SourcePartition[]): number {
  return partitions.reduce((sum, { start, end }) => sum + end - start, 0);
}
