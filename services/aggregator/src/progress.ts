/**
 * How far did each shard come? What was produced by Kafka's ends, what was applied by the store: positions
 * for user shards, and for item shards the tallies that both sides keep in their commits, for a record of
 * item-ratings may carry several ratings.
 */
import { type Side, topicName } from '@freshet/events';
import type { FactorStore } from '@freshet/store';
import type { TopicAdmin } from '@freshet/stream';

export interface Watched {
  readonly admin: Pick<TopicAdmin, 'ends'>;
  readonly store: Pick<FactorStore, 'facts'>;
  readonly model: string;
  readonly partitions: number;
}

type ByPartition = ReadonlyMap<number, number>;

export interface Progress {
  /** Where each partition of the ratings topic ends. */
  readonly produced: ByPartition;
  /** Up to where each user shard has applied its partition. */
  readonly applied: ByPartition;
  /** Ratings that all user shards together have sent to each item shard. */
  readonly sent: ByPartition;
  /** Ratings that each item shard has applied. */
  readonly received: ByPartition;
}

/** Everything is asked for at once: what moves between two questions would count as lag, or hide it. */
export async function readProgress(watched: Watched): Promise<Progress> {
  const { admin, store, model, partitions } = watched;
  const shards = Array.from({ length: partitions }, (_, shard) => shard);
  const facts = (side: Side) => Promise.all(shards.map((shard) => store.facts({ side, shard })));
  const [items, users, produced] = await Promise.all([
    facts('item'),
    facts('user'),
    admin.ends(topicName('ratings', model)),
  ]);
  const sentTo = (shard: number) => sum(users.map((each) => countOf(each[`sent:${shard}`])));
  return {
    produced,
    applied: byPartition(users.map(({ position }) => Number(position ?? 0))),
    sent: byPartition(shards.map(sentTo)),
    received: byPartition(items.map(({ applied }) => countOf(applied))),
  };
}

/** A tally is `count:checksum`. */
function countOf(tally: string | undefined): number {
  return Number(tally?.split(':')[0] ?? 0);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function byPartition(counts: readonly number[]): ByPartition {
  return new Map(counts.entries());
}
