/**
 * Do the rows of the users and the rows of the items hold the same ratings? Each rating goes into a sum
 * of hashes by (user shard, item shard), taken from either side: equal sums mean equal sets, whatever the
 * order and without an index of all ratings; only where sums differ are the ratings themselves compared.
 */
import { shardOf } from '@freshet/events';
import { decodeRow } from '@freshet/store';
import { type Check, Findings } from './check.ts';
import type { ShardReading } from './shard-reading.ts';

interface Rated {
  readonly user: string;
  readonly item: string;
  readonly value: number;
}

interface Tally {
  count: number;
  low: number;
  high: number;
}

export interface Compared {
  readonly users: readonly ShardReading[];
  readonly items: readonly ShardReading[];
  readonly partitions: number;
  /** Users about whom the item side may know more, or less: set aside on both. */
  readonly setAside: ReadonlySet<string>;
}

export function compareSides(compared: Compared): Check {
  const { users, items, partitions, setAside } = compared;
  const findings = new Findings();
  for (const { id, still } of [...users, ...items]) {
    if (!still) findings.unsettled(`${id.side} shard ${id.shard} kept moving while it was read`);
  }
  const byUser = users.map((reading) => tally(reading, compared));
  const byItem = items.map((reading) => tally(reading, compared));
  let ratings = 0;
  users.forEach((userShard, row) => {
    items.forEach((itemShard, column) => {
      const [left, right] = [byUser[row]?.[column], byItem[column]?.[row]];
      ratings += left?.count ?? 0;
      if (!userShard.still || !itemShard.still || isEqual(left, right)) return;
      for (const problem of differences(userShard, itemShard, compared)) {
        findings.violation(problem);
      }
    });
  });
  const aside = setAside.size === 0 ? '' : `; ${setAside.size} users who rated meanwhile set aside`;
  return findings.check(
    'sides',
    `${ratings} ratings are the same in the rows of users and of items, ${partitions} × ${partitions} shards${aside}`,
  );
}

/** By shard of the other side. */
function tally(reading: ShardReading, { partitions, setAside }: Compared): Tally[] {
  const tallies = Array.from({ length: partitions }, () => ({ count: 0, low: 0, high: 0 }));
  const shards = new Map<string, number>();
  for (const rated of ratingsOf(reading, setAside)) {
    const other = reading.id.side === 'user' ? rated.item : rated.user;
    let shard = shards.get(other);
    if (shard === undefined) {
      shard = shardOf(other, partitions);
      shards.set(other, shard);
    }
    const cell = tallies[shard];
    if (cell === undefined) continue;
    const text = `${rated.user}\0${rated.item}\0${rated.value}`;
    cell.count++;
    cell.low = (cell.low + hash(text, 0x811c9dc5)) >>> 0;
    cell.high = (cell.high + hash(text, 0x5bd1e995)) >>> 0;
  }
  return tallies;
}

function* ratingsOf(reading: ShardReading, setAside: ReadonlySet<string>): Generator<Rated> {
  const isUser = reading.id.side === 'user';
  for (const [owner, row] of reading.rows) {
    if (isUser && setAside.has(owner)) continue;
    for (const { neighbour, value } of decodeRow(row).values()) {
      if (value === null) continue;
      if (isUser) yield { user: owner, item: neighbour, value };
      else if (!setAside.has(neighbour)) yield { user: neighbour, item: owner, value };
    }
  }
}

function* differences(
  users: ShardReading,
  items: ShardReading,
  { partitions, setAside }: Compared,
): Generator<string> {
  const ofUsers = new Map<string, Rated>();
  for (const rated of ratingsOf(users, setAside)) {
    if (shardOf(rated.item, partitions) === items.id.shard) ofUsers.set(keyOf(rated), rated);
  }
  const where = `user shard ${users.id.shard} and item shard ${items.id.shard}`;
  for (const rated of ratingsOf(items, setAside)) {
    if (shardOf(rated.user, partitions) !== users.id.shard) continue;
    const known = ofUsers.get(keyOf(rated));
    ofUsers.delete(keyOf(rated));
    if (known === undefined) yield `${where}: ${show(rated)} is in the item's row alone`;
    else if (known.value !== rated.value) {
      yield `${where}: ${show(known)} in the user's row is ${rated.value} in the item's`;
    }
  }
  for (const rated of ofUsers.values()) yield `${where}: ${show(rated)} is in the user's row alone`;
}

function isEqual(left: Tally | undefined, right: Tally | undefined): boolean {
  return left?.count === right?.count && left?.low === right?.low && left?.high === right?.high;
}

function keyOf({ user, item }: Rated): string {
  return `${user}\0${item}`;
}

function show({ user, item, value }: Rated): string {
  return `${JSON.stringify(user)} rated ${JSON.stringify(item)} ${value}`;
}

/** FNV-1a over UTF-16 units; two seeds make 64 bits. */
function hash(text: string, seed: number): number {
  let state = seed;
  for (let at = 0; at < text.length; at++) {
    state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  }
  return state ^ (state >>> 15);
}
