/**
 * The small model of the simulation: two shards of each side, three factors and two source topics.
 */
import { type Side, shardOf, sides, topicName } from '@freshet/events';
import { defaultModel } from '@freshet/model';
import { intakeGroup } from '@freshet/positions';
import type { Agreement } from '@freshet/store';
import { openLog } from '@freshet/telemetry';

export const SHARDS = 2;
export const MODEL = 'sim';
export const settings = { ...defaultModel, factorCount: 3, window: 4 };
export const log = openLog('simulation', 'silent');

/**
 * Sources have other numbers of partitions than there are shards, since producers choose and raise
 * them.
 */
export const sources: Readonly<Record<string, number>> = { ratings: 3, clicks: 1 };
export const PARTITIONS_AT_MOST = 5;

export const agreement: Agreement = {
  manifest: { format: 3, factorCount: 3, loss: 'squared', ratingMax: 100, shards: SHARDS },
  tuning: {},
};

/** The internal topic that a side's shards apply. */
export const logOf: Readonly<Record<Side, string>> = {
  user: topicName('userRatings', MODEL),
  item: topicName('itemRatings', MODEL),
};

export function factorsOf(side: Side): string {
  return topicName(`${side}Factors`, MODEL);
}

export const partsTopic = topicName('gramParts', MODEL);
export const groupOf = (topic: string): string => intakeGroup(MODEL, topic);

export function partitionsOf(topic: string): number {
  if (sources[topic] !== undefined) return sources[topic];
  return /-ratings$|-factors$/.test(topic) ? SHARDS : 1;
}

/** Every shard of both sides. */
export const shards = sides.flatMap((side) =>
  Array.from({ length: SHARDS }, (_, shard) => ({ side, shard })),
);

/** Few users and items, so that ratings collide often, and equally many in each shard. */
export const ids: Readonly<Record<Side, readonly string[]>> = {
  user: evenly('u'),
  item: evenly('i'),
};

function evenly(letter: string): string[] {
  const all = Array.from({ length: 100 }, (_, at) => `${letter}${at}`);
  return Array.from({ length: SHARDS }, (_, shard) =>
    all.filter((id) => shardOf(id, SHARDS) === shard).slice(0, 3),
  ).flat();
}
