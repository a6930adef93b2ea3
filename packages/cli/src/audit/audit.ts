/**
 * Reads a whole model, from Redis and Kafka, and checks that it is consistent. Writes nothing.
 * While the services run, the content of single shards is checked all the same. Comparisons between
 * stages are `not settled` unless they happen to be equal.
 */
import assert from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type GramsEvent,
  readGrams,
  readItemRatings,
  type Side,
  sides,
  type Topic,
  topicName,
  topics,
} from '@freshet/events';
import type { ModelSettings } from '@freshet/model';
import {
  isBehind,
  type RecordsBehind,
  readSources,
  recordsBehind,
  sourceTopic,
  untilNoLag,
} from '@freshet/positions';
import type { Brokers } from '@freshet/session';
import type { FactorStore } from '@freshet/store';
import { InternalEvents, type LogRange, readTopic } from '@freshet/stream';
import type { Log } from '@freshet/telemetry';
import { type Check, exitCodeOf, Findings } from './check.ts';
import { checkEvidence, checkTallies, type Flow } from './check-flow.ts';
import { apart, checkTotal } from './check-total.ts';
import { covers, wantedOf } from './covered-sources.ts';
import { RefoldedEvidence, whyNotRefolded } from './refolded-evidence.ts';
import {
  checkGrams,
  checkOffsets,
  checkOutboxes,
  checkRows,
  checkVectors,
  isStill,
  nameOf,
} from './shard-checks.ts';
import { isSameCommit, readShard, type ShardReading } from './shard-reading.ts';

interface Audited extends Brokers {
  readonly store: FactorStore;
  readonly model: string;
  readonly shards: number;
  readonly settings: ModelSettings;
  readonly sources: readonly string[];
  readonly valueMax: number;
  readonly log: Log;
  /** Whether to compute the evidence of every item again from its log. */
  readonly isDeep: boolean;
  /** How long to wait until there is no lag and everything is settled. */
  readonly waitMs: number;
  readonly onProgress: (what: string, share: number) => void;
}

const POLL_MS = 50;
/** Between two audits. */
const AGAIN_MS = 500;
/** The last records of the topic may be of others, so this many are read to find one of ours. */
const GRAMS_LOOK_BACK = 100;

/**
 * Audits again while something is not settled: shards without ratings still commit lists that
 * changed two seconds ago, and the aggregator publishes the sum of their parts after that.
 */
export async function audit(audited: Audited): Promise<Check[]> {
  const deadline = Date.now() + audited.waitMs;
  for (;;) {
    const waitMs = Math.max(0, deadline - Date.now());
    const checks = await auditOnce({ ...audited, waitMs });
    if (exitCodeOf(checks) !== 2 || Date.now() >= deadline) return checks;
    await pause(AGAIN_MS);
  }
}

async function auditOnce(audited: Audited): Promise<Check[]> {
  const { admin, store, model, shards, settings, sources, valueMax, waitMs } = audited;
  const { factorCount } = settings;
  await untilNoLag({ admin, store, model, sources, limitMs: waitMs, stuckMs: waitMs });
  const users = await readSide(audited, 'user');
  const isCovered = await untilCovered(audited, users);
  const items = await readSide(audited, 'item');
  const readings = [...users, ...items];
  const grams = await latestGrams(audited, readings);
  const partitions = await readSources(admin, model, sources);
  const lag = await recordsBehind(audited);
  const isAtRest = isCovered && !isBehind(lag) && (await isUnmoved(store, readings));
  const flow: Flow = { users, items, sources: partitions, isAtRest };
  const names = new Set((Object.keys(topics) as Topic[]).map((topic) => topicName(topic, model)));
  const logs = { user: await rangesOf(audited, 'user'), item: await rangesOf(audited, 'item') };
  return [
    checkVectors(readings, factorCount),
    checkGrams(readings, factorCount),
    checkTotal(readings, grams, factorCount),
    checkRows(readings, shards, valueMax),
    checkEvidence(flow, shards, settings),
    checkTallies(flow),
    checkOffsets(readings, partitions, logs),
    checkOutboxes(readings, names),
    ...(audited.isDeep ? [await checkRefolded(audited, items, logs.item)] : []),
    checkLag(lag),
  ];
}

async function readSide(audited: Audited, side: Side): Promise<ShardReading[]> {
  const readings: ShardReading[] = [];
  for (let shard = 0; shard < audited.shards; shard++) {
    const done = shard + (side === 'user' ? 0 : audited.shards);
    audited.onProgress(`reading ${side} shard ${shard}`, done / (2 * audited.shards));
    readings.push(await readShard(audited.store, { side, shard }));
  }
  return readings;
}

/** Waits until item shards have applied all that user shards had decided when they were read. */
async function untilCovered(audited: Audited, users: readonly ShardReading[]): Promise<boolean> {
  const { admin, store, model, waitMs } = audited;
  const topic = topicName('itemRatings', model);
  const states = users.map(({ state }) => state);
  const wanted = wantedOf(states, topic, await admin.ends(topic));
  for (const deadline = Date.now() + waitMs; ; ) {
    const reached = await Promise.all(
      [...wanted].map(async ([shard, each]) =>
        covers(await store.head({ side: 'item', shard }), each),
      ),
    );
    if (reached.every(Boolean)) return true;
    if (Date.now() > deadline) return false;
    await pause(POLL_MS);
  }
}

async function isUnmoved(
  store: Pick<FactorStore, 'head'>,
  readings: readonly ShardReading[],
): Promise<boolean> {
  for (const { id, state, still } of readings) {
    if (!still || !isSameCommit(state, await store.head(id))) return false;
  }
  return true;
}

/** The newest published sum. Waits while it is of older states of the shards than those read. */
async function latestGrams(
  audited: Audited,
  readings: readonly ShardReading[],
): Promise<GramsEvent | undefined> {
  const { admin, model, shards, log, waitMs } = audited;
  const topic = topicName('grams', model);
  const { factorCount } = audited.settings;
  const decode = (value: Buffer) => readGrams(value, { shards, factorCount });
  const events = new InternalEvents({ topic, log, decode });
  for (const deadline = Date.now() + waitMs; ; ) {
    let latest: GramsEvent | undefined;
    const ends = [...(await admin.ends(topic))];
    const from = new Map(ends.map(([at, end]) => [at, Math.max(0, end - GRAMS_LOOK_BACK)]));
    await readTopic({
      ...audited,
      topic,
      from,
      receive: (_, records) => {
        for (const record of records) latest = events.read(0, record) ?? latest;
      },
    });
    const isCurrent = latest !== undefined && apart(readings, latest).length === 0;
    if (isCurrent || Date.now() > deadline) return latest;
    if (readings.every(({ state }) => state.sums === null)) return latest;
    await pause(POLL_MS);
  }
}

async function checkRefolded(
  audited: Audited,
  items: readonly ShardReading[],
  ranges: ReadonlyMap<number, LogRange>,
): Promise<Check> {
  const { admin, model, log, shards, settings, onProgress } = audited;
  const findings = new Findings();
  const topic = topicName('itemRatings', model);
  const topicId = await admin.topicId(topic);
  const folds = new Map<number, RefoldedEvidence>();
  const aside: string[] = [];
  for (const reading of items) {
    const { id } = reading;
    const range = ranges.get(id.shard);
    assert(range !== undefined, 'every shard has a partition');
    const reason = whyNotRefolded(reading, range, topicId);
    if (reason !== undefined) aside.push(`; not of ${nameOf(id)}: ${reason}`);
    else if (isStill(reading, findings))
      folds.set(id.shard, new RefoldedEvidence(reading, settings));
  }
  const { factorCount } = settings;
  const decode = (value: Buffer, at: number) => readItemRatings(value, at, { shards, factorCount });
  const events = new InternalEvents({ topic, log, decode });
  const total = [...ranges.values()].reduce((sum, { start, end }) => sum + end - start, 0);
  let done = 0;
  await readTopic({
    ...audited,
    topic,
    receive: (partition, records) => {
      for (const record of records) {
        const event = events.read(partition, record);
        if (event !== undefined) folds.get(partition)?.receive(record.offset, event);
      }
      done += records.length;
      onProgress(`refolding ${topic}`, done / Math.max(1, total));
    },
  });
  for (const fold of folds.values()) fold.compare(findings);
  const count = [...folds.values()].reduce((sum, { size }) => sum + size, 0);
  const checked = `the evidence of ${count} items, computed again from ${topic}`;
  return findings.check('refold', `${checked}${aside.join('')}`);
}

function rangesOf({ admin, model }: Audited, side: Side): Promise<Map<number, LogRange>> {
  return admin.ranges(topicName(sourceTopic[side], model));
}

function checkLag(lag: RecordsBehind): Check {
  const findings = new Findings();
  if (lag.intake > 0) findings.unsettled(`${lag.intake} records wait for intake`);
  for (const side of sides) {
    if (lag[side] > 0) findings.unsettled(`${lag[side]} batches wait for the ${side} shards`);
  }
  return findings.check('lag', 'every record that was produced is applied on both sides');
}
