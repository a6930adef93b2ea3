/** Does what a shard holds fit itself: vectors, gram, rows, counts, place in the log, outbox? */
import { float64s, parseSourceMark, shardOf, sides } from '@freshet/events';
import { decodeRow, type ShardId } from '@freshet/store';
import { decodeOutbox } from '@freshet/stream';
import { type Check, Findings } from './check.ts';
import { packedGram, relativeError } from './packed-gram.ts';
import type { ShardReading } from './shard-reading.ts';

/** Rounding of a sum of many float64 products stays far below; a lost or doubled vector does not. */
export const GRAM_TOLERANCE = 1e-9;

export function nameOf({ side, shard }: ShardId): string {
  return `${side} shard ${shard}`;
}

export function checkVectors(readings: readonly ShardReading[], k: number): Check {
  const findings = new Findings();
  let count = 0;
  for (const { id, vectors } of readings) {
    for (const [owner, { vector, trend }] of vectors) {
      count++;
      const where = `${nameOf(id)}, ${id.side} ${JSON.stringify(owner)}`;
      if (vector.length !== 0 && vector.length !== k) {
        findings.violation(`${where}: ${vector.length} factors where the model has ${k}`);
      }
      if (!vector.every(Number.isFinite)) findings.violation(`${where}: a factor is not finite`);
      if (Number.isNaN(trend)) findings.violation(`${where}: its popularity is not a number`);
    }
  }
  return findings.check('vectors', `${count} vectors of ${readings.length} shards are finite`);
}

export function checkGrams(readings: readonly ShardReading[], k: number): Check {
  const findings = new Findings();
  let worst = 0;
  let count = 0;
  for (const { id, state, vectors, still } of readings) {
    if (!still) {
      findings.unsettled(`${nameOf(id)} kept moving while it was read`);
      continue;
    }
    count++;
    const held = [...vectors.values()].map(({ vector }) => vector).filter((v) => v.length > 0);
    const expected = packedGram(held, k);
    const stored = state.gram === null ? new Float64Array(expected.length) : float64s(state.gram);
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
  partitions: number,
  valueMax: number,
): Check {
  const findings = new Findings();
  const ratings = { user: 0, item: 0 };
  for (const { id, vectors, rows, state, still } of readings) {
    if (!still) {
      findings.unsettled(`${nameOf(id)} kept moving while it was read`);
      continue;
    }
    let rated = 0;
    for (const [owner, { vector }] of vectors) {
      const where = `${nameOf(id)}, ${id.side} ${JSON.stringify(owner)}`;
      if (shardOf(owner, partitions) !== id.shard) findings.violation(`${where}: not its shard`);
      let own = 0;
      for (const { neighbour, value } of decodeRow(rows.get(owner) ?? new Uint8Array()).values()) {
        if (value === null) continue;
        own++;
        if (!(value >= 0 && value <= Math.fround(valueMax))) {
          findings.violation(`${where}: its rating of ${JSON.stringify(neighbour)} is ${value}`);
        }
      }
      if (own === 0 && vector.length > 0) findings.violation(`${where}: a vector without ratings`);
      if (own > 0 && vector.length === 0) findings.violation(`${where}: ratings without a vector`);
      rated += own;
    }
    ratings[id.side] += rated;
    const counted = Number(state.facts.ratings ?? 0);
    // |R| is counted where ratings are judged.
    if (id.side === 'user' && counted !== rated) {
      findings.violation(`${nameOf(id)}: counts ${counted} ratings, its rows hold ${rated}`);
    }
  }
  const held = sides.map((side) => `${ratings[side]} ratings in ${side} rows`).join(', ');
  return findings.check('rows', `${held}; counts, owners and values fit`);
}

/** First and next offset of each partition. */
export type LogRange = ReadonlyMap<number, { readonly first: number; readonly end: number }>;

export function checkOffsets(
  readings: readonly ShardReading[],
  logs: Readonly<Record<ShardId['side'], LogRange>>,
): Check {
  const findings = new Findings();
  const users = readings.filter(({ id }) => id.side === 'user');
  const lives = new Map(users.map(({ id, state }) => [id.shard, Number(state.facts.life ?? 0)]));
  let marks = 0;
  for (const { id, state } of readings) {
    const { first, end } = logs[id.side].get(id.shard) ?? { first: 0, end: 0 };
    const { position } = state;
    if (position !== null && (position < first || position > end)) {
      findings.violation(`${nameOf(id)}: at ${position}, but its log holds ${first} to ${end}`);
    }
    for (const [name, mark] of Object.entries(state.facts)) {
      const [, kind, source] = /^(source|forwarded):(\d+)$/.exec(name) ?? [];
      if (source === undefined) continue;
      marks++;
      const { life, offset } = parseSourceMark(mark);
      // Offsets of an earlier life of the log are no longer offsets of this one.
      if (kind === 'source' && life !== lives.get(Number(source))) continue;
      const applied = kind === 'source' ? offset : Number(mark);
      const held = logs.user.get(Number(source))?.end ?? 0;
      if (!(applied < held)) {
        findings.violation(
          `${nameOf(id)}: applied ${applied} of partition ${source} of the ratings, which ends at ${held}`,
        );
      }
    }
  }
  return findings.check(
    'offsets',
    `${readings.length} positions and ${marks} source positions lie within Kafka's logs`,
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
