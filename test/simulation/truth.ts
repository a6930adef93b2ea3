/**
 * What the store must hold, worked out from the ratings log by a plain loop: each user's partition in
 * order, a forwarded record once, the later time wins, forgetting goes by offset.
 */
import { murmur2, shardOf } from '@freshet/events';
import type { LogRecord } from '@freshet/stream';
import { PARTITIONS } from './simulated-model.ts';

interface Cell {
  value: number | null;
  time: number;
}

export interface Truth {
  readonly ratings: ReadonlySet<string>;
  /** Count and sum of hashes of the records that count, each once. */
  readonly applied: string;
}

export function truthOf(records: (partition: number) => readonly LogRecord[]): Truth {
  let [count, sum] = [0, 0];
  const users = new Map<string, Map<string, Cell>>();
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const seen = new Set<string>();
    for (const { key, value, headers } of records(partition)) {
      const source = headers['freshet-source'];
      if (source !== undefined && seen.has(source)) continue;
      if (source !== undefined) seen.add(source);
      const rating = value === null ? null : JSON.parse(String(value));
      const user: string = rating?.user ?? String(key);
      if (shardOf(user, PARTITIONS) !== partition) continue;
      count++;
      sum += murmur2(value ?? Buffer.from(user)) >>> 0;
      if (rating === null) users.delete(user);
      else apply(users, rating);
    }
  }
  const ratings = new Set<string>();
  for (const [user, row] of users) {
    for (const [item, { value }] of row)
      if (value !== null) ratings.add(`${user} ${item} ${value}`);
  }
  return { ratings, applied: `${count}:${sum}` };
}

function apply(
  users: Map<string, Map<string, Cell>>,
  { user, item, value, time }: { user: string; item: string; value: number | null; time: number },
): void {
  const row = users.get(user) ?? new Map<string, Cell>();
  users.set(user, row);
  const known = row.get(item);
  if (known === undefined || known.time <= time) row.set(item, { value, time });
}
