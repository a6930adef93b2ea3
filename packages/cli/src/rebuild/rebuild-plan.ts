/** What would a rebuild read, what is missing, and which epoch is above all epochs before? */
import { topicName } from '@freshet/events';
import type { SourcePartition } from '@freshet/positions';
import type { Birth, ShardHead } from '@freshet/store';
import type { Publisher } from '@freshet/stream';

interface RebuildFacts {
  /** Topics that ratings come from, whether they exist or not. */
  readonly topics: readonly string[];
  readonly partitions: readonly SourcePartition[];
  /** Of every shard of both sides. */
  readonly heads: readonly ShardHead[];
  readonly birth: Birth | null;
}

export function planRebuild({ topics, partitions, heads, birth }: RebuildFacts) {
  const marks = partitions.map(({ mark }) => mark.life);
  const lives = heads.flatMap(({ fence, facts }) => [
    fence ?? 0,
    facts.life ?? 0,
    facts.leastLife,
    ...Object.values(facts.sources).map(({ life }) => life),
  ]);
  return {
    /** Ratings, and records that will be parked. */
    records: recordsIn(partitions),
    known: heads.reduce((sum, { facts }) => sum + facts.ratings, 0),
    /** What cannot be read any more, each with its topic and partition. */
    missing: topics.flatMap((topic) => missingOf(topic, partitions)),
    /** The highest life and fence that the model has had. */
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

/**
 * Claims an epoch as an updater does: it is the offset of a record on the topic `claims`, plus one.
 * One record is enough to be above `least`, unless the topic was created anew.
 */
export async function claimEpoch(
  publisher: Pick<Publisher, 'append'>,
  model: string,
  { key, least }: { readonly key: string; readonly least: number },
): Promise<number> {
  const claim = { topic: topicName('claims', model), partition: 0, key, value: null };
  for (;;) {
    const epoch = (await publisher.append(claim)) + 1;
    if (epoch > least) return epoch;
  }
}
