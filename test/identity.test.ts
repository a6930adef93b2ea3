/**
 * With fixed items and grams, what is learnt depends on the log alone. Whatever the crashes,
 * zombies, lost writes, batch boundaries and cache sizes, the shards hold byte for byte what one
 * plain replay through the model makes: users, their lessons about θ, what they send to items,
 * items, evidence, figures and lists.
 */
import { shardOf, UserRatingPack, userRatingsCodec } from '@freshet/events';
import { wasmKernels } from '@freshet/kernels';
import {
  Evidence,
  figuresOf,
  firstTheta,
  Gram,
  type Grams,
  itemKey,
  NO_STATISTICS,
  OnlineModel,
  Predecessors,
  Random,
  ShardSums,
  withRating,
} from '@freshet/model';
import { ListedReplica } from '@freshet/replicas';
import { decodeRow, type MemoryStore, NO_FACTS, type StoredVector } from '@freshet/store';
import { describe, expect, it } from 'vitest';
import { Batch } from '../services/updater/src/batch.ts';
import { UserShard } from '../services/updater/src/user-shard.ts';
import { live } from './simulation/history.ts';
import {
  hexOf,
  replayItems,
  replayUsers,
  shownItem,
  shownUser,
  toldOf,
} from './simulation/replay.ts';
import { ids, log, logOf, SHARDS, settings } from './simulation/simulated-model.ts';
import type { Pinned } from './simulation/simulated-process.ts';
import { firstOf, sentToItems, sentToUsers } from './simulation/truth.ts';
import { storm } from './simulation/weather.ts';
import type { World } from './simulation/world.ts';

const SEEDS = 20;
const kernels = wasmKernels();

const CLOCK = 1.25;

/** Counts, values, a clock and a θ that are not zero, so that every term of the algebra counts. */
function pinnedWorld(random: Random): Pinned {
  const k = settings.factorCount;
  const theta = firstTheta().map((weight) => weight + random.normal() / 10);
  const counts = { ratings: 20, values: 64, clock: CLOCK, theta };
  const grams: Grams = { user: Gram.zero(k), item: Gram.zero(k), ...counts };
  const items = new Map<string, StoredVector>();
  const draw = () => Float32Array.from({ length: k }, () => random.normal());
  for (const _ of ids.user) grams.user.move(undefined, draw());
  for (const id of ids.item) {
    const vector = draw();
    const weight = Math.fround(0.5 + random.next());
    const figures = figuresOf(weight, someStatistics(random));
    items.set(id, { vector, figures, list: someList(random) });
    grams.item.move(undefined, vector, { before: 1, after: weight });
  }
  return { grams, items };
}

function someList(random: Random): Uint8Array {
  const list = Predecessors.empty();
  const some = () => itemKey(ids.item[random.below(ids.item.length)] ?? '');
  for (let count = random.below(9); count > 0; count--) list.count([some(), some()]);
  return list.toBytes();
}

function someStatistics(random: Random) {
  let statistics = NO_STATISTICS;
  for (let count = random.below(9); count > 0; count--) {
    const rating = { value: 1 + random.below(5), old: null, userBias: random.normal() };
    const byNewcomer = random.next() < 0.5;
    statistics = withRating(statistics, { ...rating, byNewcomer }, CLOCK * random.next());
  }
  return statistics;
}

async function storedUsers(store: MemoryStore, shard: number): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const user of ids.user.filter((each) => shardOf(each, SHARDS) === shard)) {
    const { stored, body } = await store.entity({ side: 'user', shard }, user);
    if (stored === null || body === null) continue;
    const row = [...decodeRow(body).values()].flatMap(({ neighbour: item, value, time }) =>
      value === null ? [] : { item, value, time },
    );
    found.set(user, shownUser(stored.vector, row));
  }
  return found;
}

async function storedItems(store: MemoryStore, shard: number): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const item of ids.item.filter((each) => shardOf(each, SHARDS) === shard)) {
    const { stored, body } = await store.entity({ side: 'item', shard }, item);
    if (stored === null || body === null) continue;
    const evidence = Evidence.fromBytes(body, settings);
    found.set(item, shownItem(stored, evidence));
  }
  return found;
}

async function storedLessons(store: MemoryStore, shard: number): Promise<string> {
  const { sums } = await store.inspect({ side: 'user', shard });
  const k = settings.factorCount;
  const { lessons } = sums ? ShardSums.fromBytes('user', sums, k) : ShardSums.zero('user', k);
  return hexOf(lessons?.toBytes());
}

/** Compares one shard of either side with its replay, and returns how many entities it compared. */
async function compare(world: World, memory: MemoryStore, shard: number, pinned: Pinned) {
  const sent = firstOf(sentToUsers(world.everything(logOf.user, shard)), 0);
  const replayed = replayUsers(
    sent.map(({ entry }) => entry),
    pinned,
  );
  expect(await storedUsers(memory, shard)).toEqual(replayed.users);
  expect(await storedLessons(memory, shard)).toBe(replayed.lessons);
  const told = Array.from({ length: SHARDS }, (_, at) => world.everything(logOf.item, at))
    .flatMap((records) => firstOf(sentToItems(records), 0))
    .filter(({ source }) => source === String(shard))
    .map(({ entry }) => entry)
    .sort((a, b) => a.sourceOffset - b.sourceOffset || a.ordinal - b.ordinal);
  expect(told.map(toldOf)).toEqual(replayed.told);
  const heard = firstOf(sentToItems(world.everything(logOf.item, shard)), 0);
  const items = replayItems(
    heard.map(({ entry }) => entry),
    pinned,
  );
  expect(await storedItems(memory, shard)).toEqual(items);
  const { lessons } = replayed;
  return { compared: replayed.users.size + items.size, taught: Number(!/^0*$/.test(lessons)) };
}

describe('a shard replayed against a pinned other side and pinned grams', {
  timeout: 240_000,
}, () => {
  it('has the same bytes on both sides, whatever happened on the way', async () => {
    const total = { compared: 0, taught: 0 };
    for (let seed = 0; seed < SEEDS; seed++) {
      const pinned = pinnedWorld(new Random(seed));
      await live(seed, { weather: storm, pinned }, async ({ world, memory }) => {
        for (let shard = 0; shard < SHARDS; shard++) {
          const { compared, taught } = await compare(world, memory, shard, pinned);
          total.compared += compared;
          total.taught += taught;
        }
      });
    }
    expect(total.compared).toBeGreaterThan(2 * SEEDS);
    expect(total.taught).toBeGreaterThan(SEEDS);
  });
});

interface Event {
  readonly kind: 'rate' | 'unrate' | 'forget';
  readonly item: string;
  readonly value: number;
  readonly time: number;
}

/** Few items and few times, so that ratings collide often. */
function eventsOf(random: Random): Event[] {
  return Array.from({ length: 3 + random.below(60) }, () => {
    const chance = random.next();
    return {
      kind: chance < 0.03 ? 'forget' : chance < 0.2 ? 'unrate' : 'rate',
      item: `i${random.below(9)}`,
      value: 1 + random.below(5),
      time: 1000 + random.below(20),
    };
  });
}

const USER = ids.user.find((each) => shardOf(each, SHARDS) === 0) ?? '';

/** The rows that a user shard keeps: in memory, and as it would find them in the store. */
function rowsOfShard(events: readonly Event[], random: Random): string[][] {
  const zero = Gram.zero(settings.factorCount);
  const counts = { ratings: 0, values: 0, clock: 0, theta: firstTheta() };
  const grams = { user: zero, item: zero, ...counts };
  const items = new ListedReplica(kernels, settings.factorCount, SHARDS);
  const options = { topic: logOf.user, shards: SHARDS, settings, kernels, items, log };
  const work = { forgetSlice: 1_000, grams: () => grams, timed: () => {} };
  const id = { side: 'user', shard: 0 } as const;
  const sums = ShardSums.zero('user', settings.factorCount);
  const shard = new UserShard({ ...options, ...work, id }, sums);
  let body: Uint8Array = new Uint8Array();
  shard.restore(USER, { stored: null, body: null });
  let facts = NO_FACTS;
  for (let at = 0; at < events.length; ) {
    const batch = new Batch(facts);
    const next = Math.min(events.length, at + 1 + random.below(8));
    const pack = new UserRatingPack();
    for (; at < next; at++) {
      const { kind, ...event } = events[at] as Event;
      const { item, value, time } = event;
      if (kind === 'forget') pack.add({ kind, user: USER }, at);
      else if (kind === 'unrate') pack.add({ kind, user: USER, item, time }, at);
      else pack.add({ kind, user: USER, item, value, time }, at);
    }
    const source = { topic: 'ratings', topicId: 'a', partition: 0, life: 0, produced: 0 };
    const value = userRatingsCodec.encode({ ...source, entries: pack.bytes });
    shard.apply({ offset: next, timestamp: 0, key: null, value, headers: {} }, batch);
    facts = batch.factsAfter(1);
    const { removed, bodies } = shard.changes.take();
    if (removed.includes(USER)) body = new Uint8Array();
    const change = bodies.get(USER);
    if (change) body = change.isWhole ? change.bytes : Buffer.concat([body, change.bytes]);
    // It may be evicted between any two batches, and come back from the store.
    if (random.next() < 0.3) shard.restore(USER, { stored: null, body });
  }
  const row = shard.changes.cache.get(USER)?.row;
  const inMemory = Array.from({ length: row?.length ?? 0 }, (_, at) => {
    return `${items.idAt(row?.slots[at] ?? -1)} ${row?.values[at]} ${row?.times[at]}`;
  });
  const stored = [...decodeRow(body).values()].flatMap(({ neighbour, value, time }) =>
    value === null ? [] : `${neighbour} ${value} ${time}`,
  );
  return [inMemory, stored];
}

function rowOfModel(events: readonly Event[]): string[] {
  const model = new OnlineModel(settings, kernels);
  for (const { kind, item, value, time } of events) {
    if (kind === 'rate') model.rate(USER, item, value, time);
    else if (kind === 'unrate') model.unrate(USER, item, time);
    else model.forget(USER);
  }
  return [...model.ratingsOf(USER)].map(({ item, value, time }) => `${item} ${value} ${time}`);
}

describe('the row of a user', () => {
  it('has one order, in a shard, in its store and in the model that is evaluated', () => {
    let longest = 0;
    for (let seed = 0; seed < 150; seed++) {
      const random = new Random(seed);
      const events = eventsOf(random);
      const expected = rowOfModel(events);
      longest = Math.max(longest, expected.length);
      for (const row of rowsOfShard(events, random)) expect(row, `seed ${seed}`).toEqual(expected);
    }
    expect(longest).toBeGreaterThan(5);
  });
});
