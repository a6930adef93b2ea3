/** The small model of the simulation: two shards of each side, three factors, rows that are soon too long. */
import { type Side, shardOf, sides, topicName } from '@freshet/events';
import { defaultModel } from '@freshet/model';
import type { Agreement } from '@freshet/store';
import { openLog } from '@freshet/telemetry';

export const PARTITIONS = 2;
export const MODEL = 'sim';
export const settings = { ...defaultModel, factorCount: 3, rowCap: 4 };
export const log = openLog('simulation', 'silent');

export const agreement: Agreement = {
  manifest: { format: 1, factorCount: 3, loss: 'squared', ratingMax: 100, partitions: PARTITIONS },
  tuning: {},
};

export function facingOf(side: Side): Side {
  return side === 'user' ? 'item' : 'user';
}

export function sourceOf(side: Side): string {
  return topicName(side === 'user' ? 'ratings' : 'itemRatings', MODEL);
}

export function factorsOf(side: Side): string {
  return topicName(`${side}Factors`, MODEL);
}

/** Every shard of both sides. */
export const shards = sides.flatMap((side) =>
  Array.from({ length: PARTITIONS }, (_, shard) => ({ side, shard })),
);

/** A few of each side, so that everything collides, and as many in each shard. */
export const ids: Readonly<Record<Side, readonly string[]>> = {
  user: evenly('u'),
  item: evenly('i'),
};

function evenly(letter: string): string[] {
  const all = Array.from({ length: 100 }, (_, at) => `${letter}${at}`);
  return Array.from({ length: PARTITIONS }, (_, shard) =>
    all.filter((id) => shardOf(id, PARTITIONS) === shard).slice(0, 3),
  ).flat();
}
