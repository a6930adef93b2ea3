/**
 * How far have ratings come? Kafka knows what was produced and what intake has sent on; the store
 * knows what user shards and item shards have applied. A sender counts from the beginning of its
 * present life, so what was applied in an earlier life is not counted.
 */
import type { Side } from '@freshet/events';
import {
  ratingsDue,
  readSources,
  type SourcePartition,
  sourceName,
  unreadRecords,
} from '@freshet/positions';
import type { FactorStore, ShardFacts } from '@freshet/store';

export interface Watched {
  readonly admin: Parameters<typeof readSources>[0];
  readonly store: Pick<FactorStore, 'head'>;
  readonly model: string;
  readonly topics: readonly string[];
  readonly shards: number;
}

type Counts = ReadonlyMap<string, number>;

/** Ratings that are due at a point, and those that have passed it, each by the same names. */
interface Passage {
  readonly due: Counts;
  readonly passed: Counts;
}

export const points = ['intake', 'user_applied', 'item_applied'] as const;
export type Point = (typeof points)[number];

/**
 * `intake` and `user_applied` count, by partition of the sources, the ratings that were produced.
 * `item_applied` counts, by item shard, the entries that user shards have sent.
 */
export type Progress = Readonly<Record<Point, Passage>>;

/** Asks for everything at once: a rating that moves between two questions would look like lag. */
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
    passed: byPartition(sources, (each) => each.end - unreadRecords(each, each.position)),
  };
}

/**
 * Due is what intake has sent plus what it has not read yet, both as of its last commit, up to
 * 200 ms ago. What was sent since is counted as not yet read, so the sum is right all the same.
 */
function userPassage(sources: readonly SourcePartition[], users: readonly ShardFacts[]): Passage {
  return {
    due: byPartition(sources, ratingsDue),
    passed: byPartition(sources, ({ topic, mark, partition }) => {
      const name = sourceName(topic, mark.topicId, partition);
      return sum(users, (facts) => appliedOf(facts, name, mark.life));
    }),
  };
}

/** Summed over the user shards. No pair of shards may make up for what another pair lacks. */
function itemPassage(users: readonly ShardFacts[], items: readonly ShardFacts[]): Passage {
  const due = new Map<string, number>();
  const passed = new Map<string, number>();
  items.forEach((item, shard) => {
    const pairs = users.map(({ sent, life }, user) => {
      // A user shard may have had nothing for this item shard.
      const count = sent[shard]?.count ?? 0;
      return { sent: count, applied: Math.min(count, appliedOf(item, String(user), life)) };
    });
    const total = (of: 'sent' | 'applied') => sum(pairs, (pair) => pair[of]);
    due.set(String(shard), total('sent'));
    passed.set(String(shard), total('applied'));
  });
  return { due, passed };
}

/** How much a shard has applied of what a source sent in this life. */
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
