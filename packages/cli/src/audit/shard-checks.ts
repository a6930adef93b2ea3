/** Is a shard consistent in itself: vectors, gram, rows, counts, position and outbox? */
import assert from 'node:assert';
import { shardOf } from '@freshet/events';
import { type SourcePartition, sourceName } from '@freshet/positions';
import { decodeRow, type ShardId } from '@freshet/store';
import { decodeOutbox, type LogRange } from '@freshet/stream';
import { type Check, Findings } from './check.ts';
import { gramOf, packedGram, relativeError } from './packed-gram.ts';
import type { ShardReading } from './shard-reading.ts';

/** Far above the rounding errors of a sum in float64, far below the effect of a lost vector. */
export const GRAM_TOLERANCE = 1e-9;

const NOTHING = new Uint8Array();

export function nameOf({ side, shard }: ShardId): string {
  return `${side} shard ${shard}`;
}

/** Whether a shard was read as of one commit; a finding if not. */
export function isStill({ id, still }: ShardReading, findings: Findings): boolean {
  if (!still) findings.unsettled(`${nameOf(id)} kept moving while it was read`);
  return still;
}

export function checkVectors(readings: readonly ShardReading[], k: number): Check {
  const findings = new Findings();
  let count = 0;
  for (const { id, vectors } of readings) {
    for (const [owner, { vector, figures }] of vectors) {
      count++;
      const where = `${nameOf(id)}, ${id.side} ${JSON.stringify(owner)}`;
      if (vector.length !== 0 && vector.length !== k) {
        findings.violation(`${where}: ${vector.length} factors where the model has ${k}`);
      }
      if (!vector.every(Number.isFinite)) findings.violation(`${where}: a factor is not finite`);
      if (figures.some(Number.isNaN)) findings.violation(`${where}: a figure is not a number`);
    }
  }
  return findings.check('vectors', `${count} vectors of ${readings.length} shards are finite`);
}

export function checkGrams(readings: readonly ShardReading[], k: number): Check {
  const findings = new Findings();
  let worst = 0;
  let count = 0;
  for (const reading of readings) {
    if (!isStill(reading, findings)) continue;
    const { id, state, vectors } = reading;
    count++;
    const held = [...vectors.values()]
      .filter(({ vector }) => vector.length > 0)
      .map(({ vector, figures }) => ({ vector, weight: figures[0] ?? 1 }));
    const expected = packedGram(held, k);
    const stored = gramOf(state, k) ?? new Float64Array(expected.length);
    const error = relativeError(stored, expected);
    worst = Math.max(worst, error);
    if (!(error <= GRAM_TOLERANCE)) {
      findings.violation(
        `${nameOf(id)}: its gram is off by ${error.toExponential(1)} (relative) from the sum over ${held.length} vectors`,
      );
    }
  }
  return findings.check(
    'grams',
    `${count} partial grams against their vectors, largest error ${worst.toExponential(1)}`,
  );
}

export function checkRows(
  readings: readonly ShardReading[],
  shards: number,
  valueMax: number,
): Check {
  const findings = new Findings();
  let all = 0;
  for (const reading of readings) {
    const { id, vectors, bodies, state } = reading;
    if (id.side !== 'user' || !isStill(reading, findings)) continue;
    let rated = 0;
    for (const [user, { vector }] of vectors) {
      const where = `${nameOf(id)}, user ${JSON.stringify(user)}`;
      if (shardOf(user, shards) !== id.shard) findings.violation(`${where}: not its shard`);
      let own = 0;
      for (const { neighbour, value } of decodeRow(bodies.get(user) ?? NOTHING).values()) {
        if (value === null) continue;
        own++;
        if (!(value >= 0 && value <= Math.fround(valueMax))) {
          findings.violation(`${where}: the rating of ${JSON.stringify(neighbour)} is ${value}`);
        }
      }
      if (own === 0 && vector.length > 0) findings.violation(`${where}: a vector without ratings`);
      if (own > 0 && vector.length === 0) findings.violation(`${where}: ratings without a vector`);
      rated += own;
    }
    all += rated;
    const counted = state.facts.ratings;
    if (counted !== rated) {
      findings.violation(`${nameOf(id)}: counts ${counted} ratings, its rows hold ${rated}`);
    }
  }
  return findings.check('rows', `${all} ratings in the rows of users; counts and values fit`);
}

export function checkOffsets(
  readings: readonly ShardReading[],
  sources: readonly SourcePartition[],
  logs: Readonly<Record<ShardId['side'], ReadonlyMap<number, LogRange>>>,
): Check {
  const findings = new Findings();
  const users = readings.filter(({ id }) => id.side === 'user');
  const lives = new Map(users.map(({ id, state }) => [String(id.shard), state.facts.life]));
  const ends = new Map(
    sources.map((at) => [sourceName(at.topic, at.mark.topicId, at.partition), at.end]),
  );
  for (const { topic, partition, position, start, end } of sources) {
    if (position !== null && (position < start || position > end)) {
      findings.violation(
        `${topic}/${partition}: intake is at ${position}, the log holds ${start} to ${end}`,
      );
    }
  }
  let marks = 0;
  for (const { id, state } of readings) {
    const log = logs[id.side].get(id.shard);
    assert(log !== undefined, 'every shard has a partition');
    const { start, end } = log;
    const { position } = state;
    if (position !== null && (position < start || position > end)) {
      findings.violation(`${nameOf(id)}: at ${position}, but its log holds ${start} to ${end}`);
    }
    for (const [source, { life, offset }] of Object.entries(state.facts.sources)) {
      marks++;
      // An offset of an earlier life, or of a log that is gone, cannot be compared with this log.
      const isOld = id.side === 'item' && life !== lives.get(source);
      const held = id.side === 'user' ? ends.get(source) : logs.user.get(Number(source))?.end;
      if (isOld || held === undefined || offset < held) continue;
      findings.violation(`${nameOf(id)}: applied ${offset} of ${source}, which ends at ${held}`);
    }
  }
  return findings.check(
    'offsets',
    `${readings.length + sources.length} positions and ${marks} source positions lie within Kafka's logs`,
  );
}

export function checkOutboxes(
  readings: readonly ShardReading[],
  topics: ReadonlySet<string>,
): Check {
  const findings = new Findings();
  let count = 0;
  for (const { id, state } of readings) {
    try {
      for (const { topic } of decodeOutbox(Buffer.from(state.outbox ?? []))) {
        count++;
        if (!topics.has(topic)) findings.violation(`${nameOf(id)}: a record for topic ${topic}`);
      }
    } catch (error) {
      findings.violation(`${nameOf(id)}: not readable: ${(error as Error).message}`);
    }
  }
  return findings.check('outboxes', `${count} records in ${readings.length} outboxes are readable`);
}
