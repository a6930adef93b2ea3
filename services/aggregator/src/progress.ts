/**
 * How far have ratings come? Kafka tells what was produced and what intake has sent on, the store what user
 * shards and item shards have applied. Each count begins with a life of whoever sends: what was applied of
 * an earlier life is none of it.
 */
import type { Side } from '@freshet/events';
import { readSources, type SourcePartition, sourceName } from '@freshet/positions';
import type { FactorStore, ShardFacts } from '@freshet/store';

export interface Watched {
  readonly admin: Parameters<typeof readSources>[0];
  readonly store: Pick<FactorStore, 'head'>;
  readonly model: string;
  /** That ratings come from. */
  readonly topics: readonly string[];
  readonly shards: number;
}

type Counts = ReadonlyMap<string, number>;

/** Ratings that are to pass a point, and those that have; under the same names, counted from the same start. */
interface Passage {
  readonly due: Counts;
  readonly passed: Counts;
}

export const points = ['intake', 'user_applied', 'item_applied'] as const;
export type Point = (typeof points)[number];

/**
 * Up to `user_applied` by partition of the sources, from being produced; at `item_applied` by item shard,
 * from being sent by user shards.
 */
export type Progress = Readonly<Record<Point, Passage>>;

/** Everything is asked for at once: what moves between two questions would count as lag, or hide it. */
export async function readProgress(watched: Watched): Promise<Progress> {
  const { admin, store, model, topics, shards } = watched;
  const factsOf = (side: Side) =>
    Promise.all(
      Array.from({ length: shards }, async (_, shard) => (await store.head({ side, shard })).facts),
    );
  const [items, users, sources] = await Promise.all([
    factsOf('item'),
    factsOf('user'),
    readSources(admin, model, topics),
  ]);
  return {
    intake: intakePassage(sources),
    user_applied: userPassage(sources, users),
    item_applied: itemPassage(users, items),
  };
}

function intakePassage(sources: readonly SourcePartition[]): Passage {
  return {
    due: byPartition(sources, ({ end }) => end),
    passed: byPartition(sources, ({ position, start }) => position ?? start),
  };
}

/**
 * What intake has sent and what it has not read yet are the ratings to be applied. Both are as of its last
 * commit, up to 200 ms ago: what was applied since is in the second figure still, and taken off the sum.
 */
function userPassage(sources: readonly SourcePartition[], users: readonly ShardFacts[]): Passage {
  return {
    due: byPartition(sources, ({ mark, end, position, start }) => {
      return mark.sent.count + Math.max(0, end - (position ?? start));
    }),
    passed: byPartition(sources, ({ topic, mark, partition }) => {
      const name = sourceName(topic, mark.topicId, partition);
      return sum(users, (facts) => appliedOf(facts, name, mark.life));
    }),
  };
}

/** Pairs of shards are told together by item shard; none makes up for what another one lacks. */
function itemPassage(users: readonly ShardFacts[], items: readonly ShardFacts[]): Passage {
  const due = new Map<string, number>();
  const passed = new Map<string, number>();
  items.forEach((item, shard) => {
    const pairs = users.map(({ sent, life }, user) => {
      const count = sent[shard]?.count ?? 0; // a user shard may have had nothing for this item shard
      return { sent: count, applied: Math.min(count, appliedOf(item, String(user), life)) };
    });
    due.set(
      String(shard),
      sum(pairs, ({ sent }) => sent),
    );
    passed.set(
      String(shard),
      sum(pairs, ({ applied }) => applied),
    );
  });
  return { due, passed };
}

/** What a shard has applied of what a source sent in this life. */
function appliedOf({ sources }: ShardFacts, source: string, life: number | null): number {
  const mark = sources[source];
  return mark !== undefined && mark.life === life ? mark.applied.count : 0;
}

function byPartition(
  sources: readonly SourcePartition[],
  countOf: (source: SourcePartition) => number,
): Counts {
  return new Map(sources.map((source) => [`${source.topic}:${source.partition}`, countOf(source)]));
}

function sum<T>(all: readonly T[], countOf: (each: T) => number): number {
  return all.reduce((total, each) => total + countOf(each), 0);
}
