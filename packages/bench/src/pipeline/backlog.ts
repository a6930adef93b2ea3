/** Produces generated ratings of MovieLens-1M's shape as fast as Kafka takes them. */
import { encodeRating, shardOf, topics } from '@freshet/events';
import { type GeneratedRating, generateRatings } from '@freshet/experiments';
import { type OutRecord, Publisher } from '@freshet/stream';
import type { BenchSystem } from './bench-system.ts';

export const RATINGS_TOPIC = topics.ratings.name;
const SEED = 4;
const CHUNK = 5_000;
const LEARNT_LIMIT_MS = 300_000;

export interface Backlog {
  readonly count: number;
  /** The item of each record, by partition and offset, for the bare loop, which decodes nothing. */
  readonly items: readonly (readonly string[])[];
}

export function benchRatings(count: number): Generator<GeneratedRating, void> {
  // As many users and items as MovieLens-1M has, so that there are as many ids.
  return generateRatings({ users: 6_040, items: 3_706, ratings: count, seed: SEED });
}

export function recordOf({ settings }: BenchSystem, rating: GeneratedRating) {
  const { user, item, value, time } = rating;
  return {
    topic: RATINGS_TOPIC,
    partition: shardOf(user, settings.SHARDS),
    key: user,
    value: encodeRating({ user, item, value, time }),
  };
}

export async function produceBacklog(system: BenchSystem, count: number): Promise<Backlog> {
  const publisher = await Publisher.open(system.session.kafka);
  const items: string[][] = Array.from({ length: system.settings.SHARDS }, () => []);
  let sending: Promise<void> = Promise.resolve();
  let chunk: OutRecord[] = [];
  try {
    for (const rating of benchRatings(count)) {
      const record = recordOf(system, rating);
      (items[record.partition] as string[]).push(rating.item);
      chunk.push(record);
      if (chunk.length < CHUNK) continue;
      await sending;
      sending = publisher.publish(chunk);
      chunk = [];
    }
    await sending;
    await publisher.publish(chunk);
  } finally {
    await publisher.close();
  }
  return { count, items };
}

/** Sends ratings and waits until all are learnt; returns who rated. */
export async function learn(
  system: BenchSystem,
  ratings: Iterator<GeneratedRating>,
  count: number,
): Promise<Set<string>> {
  const publisher = await Publisher.open(system.session.kafka);
  const users = new Set<string>();
  for (let sent = 0; sent < count; sent += CHUNK) {
    const chunk = Array.from({ length: CHUNK }, () => ratings.next().value as GeneratedRating);
    for (const { user } of chunk) users.add(user);
    await publisher.publish(chunk.map((rating) => recordOf(system, rating)));
  }
  await publisher.close();
  await system.untilNoLag(LEARNT_LIMIT_MS);
  return users;
}
