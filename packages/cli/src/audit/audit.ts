/**
 * Reads the whole of a model, from Redis and Kafka, and checks that it fits together. Writes nothing. On
 * a system that goes on working the checks hold for what both sides cover; the verdict is then `not
 * settled`, for the rest was not seen.
 */

import {
  decodeRating,
  type GramsEvent,
  PoisonRecord,
  type RatingLimits,
  readGrams,
  sides,
  type Topic,
  topicName,
  topics,
} from '@freshet/events';
import type { Brokers } from '@freshet/session';
import type { FactorStore } from '@freshet/store';
import { InternalEvents, readTopic } from '@freshet/stream';
import type { Log } from '@freshet/telemetry';
import { type Check, Findings } from './check.ts';
import { apart, checkTotal } from './check-total.ts';
import { compareSides } from './compare-sides.ts';
import { covers, wantedOf } from './covered-sources.ts';
import { lagOf, sourceTopic, untilNoLag } from './lag.ts';
import {
  checkGrams,
  checkOffsets,
  checkOutboxes,
  checkRows,
  checkVectors,
  type LogRange,
} from './shard-checks.ts';
import { isSameCommit, readShard, type ShardReading } from './shard-reading.ts';

export interface Audited extends Brokers {
  readonly store: FactorStore;
  readonly model: string;
  readonly partitions: number;
  readonly factorCount: number;
  readonly limits: RatingLimits;
  readonly log: Log;
  /** How long to wait for lag to go and for published grams to follow. */
  readonly waitMs: number;
  readonly onProgress: (what: string, share: number) => void;
}

const POLL_MS = 50;
/** How many records before the end may be somebody else's. */
const GRAMS_LOOK_BACK = 100;

export async function audit(audited: Audited): Promise<Check[]> {
  const { admin, store, model, partitions, factorCount, limits, waitMs } = audited;
  await untilNoLag({ admin, store, model, limitMs: waitMs, stuckMs: waitMs });
  const users = await readSide(audited, 'user');
  const covered = await untilCovered(audited, users);
  const items = await readSide(audited, 'item');
  const readings = [...users, ...items];
  const grams = await latestGrams(audited, readings);
  const names = new Set((Object.keys(topics) as Topic[]).map((topic) => topicName(topic, model)));
  return [
    checkVectors(readings, factorCount),
    checkGrams(readings, factorCount),
    checkTotal(readings, grams, factorCount),
    checkRows(readings, partitions, limits.valueMax),
    covered
      ? compareSides({ users, items, partitions, setAside: await movedUsers(audited, users) })
      : uncovered(),
    checkOffsets(readings, {
      user: await ranges(audited, 'user'),
      item: await ranges(audited, 'item'),
    }),
    checkOutboxes(readings, names),
    await checkLag(audited),
  ];
}

async function readSide(audited: Audited, side: 'user' | 'item'): Promise<ShardReading[]> {
  const readings: ShardReading[] = [];
  for (let shard = 0; shard < audited.partitions; shard++) {
    const done = shard + (side === 'user' ? 0 : audited.partitions);
    audited.onProgress(`reading ${side} shard ${shard}`, done / (2 * audited.partitions));
    readings.push(await readShard(audited.store, { side, shard }));
  }
  return readings;
}

/** Waits until the item shards have applied all that the user shards had decided when they were read. */
async function untilCovered(audited: Audited, users: readonly ShardReading[]): Promise<boolean> {
  const { admin, store, model, waitMs } = audited;
  const topic = topicName('itemRatings', model);
  const states = users.map(({ state }) => state);
  const wanted = wantedOf(states, topic, await admin.ends(topic));
  for (const deadline = Date.now() + waitMs; ; ) {
    const reached = await Promise.all(
      [...wanted].map(async ([shard, each]) =>
        covers(await store.inspect({ side: 'item', shard }), each),
      ),
    );
    if (reached.every(Boolean)) return true;
    if (Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function uncovered(): Check {
  const findings = new Findings();
  findings.unsettled('the item shards have not applied what the user shards forwarded');
  return findings.check('sides', 'ratings of both sides not compared');
}

/** Users with records at or after the position at which their shard was read. */
async function movedUsers(
  { kafka, admin, store, model, log, limits }: Audited,
  users: readonly ShardReading[],
): Promise<Set<string>> {
  const moved = new Set<string>();
  const states = await Promise.all(users.map(({ id }) => store.inspect(id)));
  if (users.every(({ state }, at) => states[at] && isSameCommit(state, states[at]))) return moved;
  const from = new Map(users.map(({ id, state }) => [id.shard, state.position ?? 0]));
  await readTopic({
    kafka,
    admin,
    log,
    model,
    topic: topicName('ratings', model),
    from,
    receive: (_, records) => {
      for (const record of records) {
        try {
          moved.add(decodeRating(record, limits).user);
        } catch (error) {
          // What cannot be decoded is parked, and changes no row.
          if (!(error instanceof PoisonRecord)) throw error;
        }
      }
    },
  });
  return moved;
}

/** The newest published sum; waited for while it is of older states than those read. */
async function latestGrams(
  { kafka, admin, model, partitions, factorCount, log, waitMs }: Audited,
  readings: readonly ShardReading[],
): Promise<GramsEvent | undefined> {
  const topic = topicName('grams', model);
  const decode = (value: Buffer) => readGrams(value, { partitions, factorCount });
  // What is not one of ours is passed over here as everywhere.
  const events = new InternalEvents({ topic, log, decode });
  for (const deadline = Date.now() + waitMs; ; ) {
    let latest: GramsEvent | undefined;
    const ends = [...(await admin.ends(topic))];
    const from = new Map(ends.map(([at, end]) => [at, Math.max(0, end - GRAMS_LOOK_BACK)]));
    await readTopic({
      kafka,
      admin,
      log,
      model,
      topic,
      from,
      receive: (_, records) => {
        for (const record of records) latest = events.read(0, record) ?? latest;
      },
    });
    const isCurrent = latest !== undefined && apart(readings, latest).length === 0;
    if (isCurrent || Date.now() > deadline) return latest;
    if (readings.every(({ state }) => state.gram === null)) return latest;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function ranges({ admin, model }: Audited, side: 'user' | 'item'): Promise<LogRange> {
  const topic = topicName(sourceTopic[side], model);
  const starts = await admin.starts(topic);
  const ends = await admin.ends(topic);
  return new Map([...ends].map(([at, end]) => [at, { first: starts.get(at) ?? 0, end }]));
}

async function checkLag(audited: Audited): Promise<Check> {
  const findings = new Findings();
  const lag = await lagOf(audited);
  for (const side of sides) {
    if (lag[side] > 0) findings.unsettled(`${lag[side]} records wait for the ${side} shards`);
  }
  return findings.check('lag', 'every record that was produced is applied on both sides');
}
