/**
 * Says what is wrong with a world that has healed: compares each stage with the log before it, and
 * replicas and grams with the store.
 */
import { type RatingEvent, RatingReader, shardOf, sides } from '@freshet/events';
import { figuresOf, Gram, ShardSums, statisticsIn } from '@freshet/model';
import { readSources, sourceName } from '@freshet/positions';
import type { Replica } from '@freshet/replicas';
import {
  decodeRow,
  isSame,
  type MemoryStore,
  NO_TALLY,
  plus,
  rowEntryLength,
} from '@freshet/store';
import type { LogRecord } from '@freshet/stream';
import { snapshot, violationsOf } from '@freshet/testkit';
import { bytesOf, hexOf } from './replay.ts';
import { ids, logOf, MODEL, SHARDS, settings, shards, sources } from './simulated-model.ts';
import { type Cell, firstOf, inTime, keptOf, rowsOf, sentToItems, sentToUsers } from './truth.ts';
import type { World } from './world.ts';

const GRAM_ERROR = 1e-9;
const NO_FIGURES = new Float64Array();
const reader = new RatingReader({ valueMax: 100, schemaIds: [] });

export async function wrongWith(world: World, memory: MemoryStore): Promise<string[]> {
  return [
    ...world.failures.map((error) => `a process ended: ${error}`),
    ...(await world.unfinished()),
    ...(await wrongIntake(world, memory)),
    ...(await wrongTallies(world, memory)),
    ...(await wrongRows(world, memory)),
    ...(await wrongEvidence(world, memory)),
    ...(await wrongGrams(world, memory)),
    ...(await wrongReplica(world.replica, memory)),
  ];
}

/** Every record of a source was sent to the shard of its user, or parked. */
async function wrongIntake(world: World, memory: MemoryStore): Promise<string[]> {
  const found: string[] = [];
  const { rebuilt = 0 } = (await memory.birth()) ?? {};
  const sent = new Set<string>();
  for (let shard = 0; shard < SHARDS; shard++) {
    const all = sentToUsers(world.everything(logOf.user, shard));
    for (const { named, entry } of firstOf(all, rebuilt)) {
      sent.add(`${named} ${shard} ${JSON.stringify(entry.event)}`);
    }
  }
  const letters = world.log.records('ratings-dead-letter', 0).map(({ headers }) => {
    return `${headers['freshet-topic']}:${headers['freshet-partition']}:${headers['freshet-offset']}`;
  });
  const parked = new Set(letters);
  for (const { topic, partition, record } of world.lineage.records()) {
    const place = `${topic}:${partition}:${record.offset}`;
    const event = eventOf(record);
    const due = event && `${place} ${shardOf(event.user, SHARDS)} ${JSON.stringify(event)}`;
    if (due === undefined && !parked.has(place)) found.push(`${place} is not parked`);
    if (due !== undefined && !sent.has(due)) found.push(`not sent, or not in time: ${due}`);
  }
  return found;
}

/** undefined where the record is no rating. */
function eventOf(record: LogRecord): RatingEvent | undefined {
  try {
    return reader.read(record);
  } catch {
    return undefined;
  }
}

/** What intake counts as sent against what user shards count as applied. */
async function wrongTallies(world: World, memory: MemoryStore): Promise<string[]> {
  const found: string[] = [];
  const users = shards.filter(({ side }) => side === 'user');
  const facts = await Promise.all(users.map(async (id) => (await memory.head(id)).facts));
  for (const { topic, partition, mark } of await readSources(
    world.log,
    MODEL,
    Object.keys(sources),
  )) {
    if (!world.lineage.isExact(topic, partition)) continue;
    const name = sourceName(topic, mark.topicId, partition);
    const marks = facts.flatMap((each) => each.sources[name] ?? []);
    const later = marks.filter(({ life }) => life > mark.life);
    if (later.length > 0)
      found.push(`${name}: applied of life ${later[0]?.life}, not ${mark.life}`);
    const applied = marks
      .filter(({ life }) => life === mark.life)
      .reduce((sum, each) => plus(sum, each.applied), NO_TALLY);
    if (!isSame(applied, mark.sent)) {
      found.push(`${name}: sent ${mark.sent.count}, users applied ${applied.count}`);
    }
  }
  return found;
}

async function wrongRows(world: World, memory: MemoryStore): Promise<string[]> {
  const { rebuilt = 0 } = (await memory.birth()) ?? {};
  const expected = new Set<string>();
  const found: string[] = [];
  for (let shard = 0; shard < SHARDS; shard++) {
    const sent = inTime(sentToUsers(world.everything(logOf.user, shard)), world.lineage);
    const counting = firstOf(sent, rebuilt);
    const rows = rowsOf(counting.map(({ entry }) => entry));
    for (const user of ids.user.filter((each) => shardOf(each, SHARDS) === shard)) {
      const row = rows.get(user) ?? new Map<string, Cell>();
      for (const [item, { value }] of row) {
        if (value !== null) expected.add(`${user} ${item} ${value}`);
      }
      const { body, stored } = await memory.entity({ side: 'user', shard }, user);
      const entries = [...decodeRow(body ?? new Uint8Array()).values()];
      const cells = entries.map(({ neighbour, value, time }) => `${neighbour} ${value} ${time}`);
      const due = [...row].map(([item, { value, time }]) => `${item} ${value} ${time}`);
      if (`${cells.sort()}` !== `${due.sort()}`) found.push(`${user} has ${cells}, not ${due}`);
      const alive = entries.reduce((sum, entry) => sum + rowEntryLength(entry), 0);
      const length = body?.length ?? 0;
      if (length > 2 * alive) found.push(`${user} takes ${length} bytes for ${alive}`);
      const isRated = entries.some(({ value }) => value !== null);
      if (isRated !== (stored?.vector.length ?? 0) > 0) found.push(`${user}: a vector, or none`);
    }
  }
  return [...found, ...violationsOf(await snapshot(memory, SHARDS, settings), expected)];
}

/** Compares the evidence of items with that of a replay of item-ratings. */
async function wrongEvidence(world: World, memory: MemoryStore): Promise<string[]> {
  const { born = 0 } = (await memory.birth()) ?? {};
  const found: string[] = [];
  for (let shard = 0; shard < SHARDS; shard++) {
    const told = firstOf(sentToItems(world.everything(logOf.item, shard)), born);
    const kept = keptOf(told.map(({ entry }) => entry));
    for (const item of ids.item.filter((each) => shardOf(each, SHARDS) === shard)) {
      const { body, stored } = await memory.entity({ side: 'item', shard }, item);
      const due = kept.get(item);
      if (hexOf(body) !== hexOf(due?.evidence.toBytes())) {
        found.push(`${item} has other evidence than it was told`);
      }
      const { count } = statisticsIn(stored?.figures ?? NO_FIGURES);
      if (count !== (due?.evidence.count ?? 0)) found.push(`${item} counts ${count} ratings`);
      if (hexOf(stored?.list) !== hexOf(due?.list.toBytes())) {
        found.push(`${item} has another list than it was told`);
      }
    }
  }
  return found;
}

/** The sums that the aggregator published against those in the store. */
async function wrongGrams(world: World, memory: MemoryStore): Promise<string[]> {
  const k = settings.factorCount;
  const total = { user: Gram.zero(k), item: Gram.zero(k) };
  const counts = { ratings: 0, values: 0, clock: 0 };
  for (const id of shards) {
    const { sums, facts } = await memory.inspect(id);
    counts.ratings += facts.ratings;
    counts.values += facts.values;
    counts.clock = Math.max(counts.clock, facts.clock);
    if (sums !== null) total[id.side].add(ShardSums.fromBytes(id.side, sums, k).gram);
  }
  const published = world.grams;
  if (published === undefined) return ['no grams were published'];
  const { ratings, values, clock } = published;
  const found = sides.flatMap((side) => {
    const error = distance(published[side], total[side]);
    return error < GRAM_ERROR ? [] : [`the published ${side} gram is off by ${error}`];
  });
  if (ratings !== counts.ratings) found.push(`|R| is published as ${ratings}`);
  if (Math.abs(values - counts.values) > GRAM_ERROR)
    found.push(`values are published as ${values}`);
  if (!(clock >= counts.clock)) found.push(`the clock is at ${clock}, behind ${counts.clock}`);
  return found;
}

function distance(one: Gram, other: Gram): number {
  const [a, b] = [one, other].map((gram) => new Float64Array(gram.toBytes().slice().buffer));
  return Math.max(0, ...Array.from(a ?? [], (cell, at) => Math.abs(cell - (b?.[at] ?? 0))));
}

/** A replica against the stored vectors and counts of the items, bit for bit. */
async function wrongReplica(replica: Replica | undefined, memory: MemoryStore): Promise<string[]> {
  if (replica === undefined) return [];
  const found: string[] = [];
  for (let shard = 0; shard < SHARDS; shard++) {
    // Replicas learn with the first commit of a shard that it has lost everything.
    if ((await memory.head({ side: 'item', shard })).facts.sequence === 0) continue;
    const stored = new Map<string, string>();
    for await (const [id, { vector, figures }] of memory.vectors({ side: 'item', shard })) {
      const counted = figuresOf(0, statisticsIn(figures));
      if (vector.length > 0) stored.set(id, `${bytesOf(vector)} ${bytesOf(counted)}`);
    }
    for (const id of ids.item.filter((each) => shardOf(each, SHARDS) === shard)) {
      if (heldBy(replica, id) !== stored.get(id)) found.push(`a replica has another ${id}`);
    }
  }
  return found;
}

function heldBy(replica: Replica, id: string): string | undefined {
  const slot = replica.slotOf(id);
  if (slot === undefined || !replica.isPresent(slot)) return undefined;
  const vector = new Float32Array(settings.factorCount);
  replica.table.read(slot, vector);
  return `${bytesOf(vector)} ${bytesOf(figuresOf(0, replica.features.statisticsAt(slot)))}`;
}
