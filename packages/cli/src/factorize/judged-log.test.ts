import { shardOf } from '@freshet/events';
import type { LogRecord } from '@freshet/stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JudgedLog } from './judged-log.ts';

const PARTITIONS = 2;
const options = { model: 'm', partitions: PARTITIONS, limits: { valueMax: 5, schemaIds: [] } };

interface Said {
  readonly user: string;
  readonly item: string;
  /** null takes back; undefined forgets the user. */
  readonly value: number | null | undefined;
  readonly time: number;
  readonly stray: boolean;
}

function recordOf({ user, item, value, time }: Said, offset: number): LogRecord {
  const body =
    value === undefined ? null : Buffer.from(JSON.stringify({ user, item, value, time }));
  return { offset, timestamp: 1e6, key: Buffer.from(user), value: body, headers: {} };
}

/** The partitions of a log in which some records lie on the wrong one. */
function logOf(said: readonly Said[]): LogRecord[][] {
  const log: LogRecord[][] = Array.from({ length: PARTITIONS }, () => []);
  for (const each of said) {
    const home = shardOf(each.user, PARTITIONS);
    const partition = log[each.stray ? (home + 1) % PARTITIONS : home];
    partition?.push(recordOf(each, partition.length));
  }
  return log;
}

function judge(log: readonly (readonly LogRecord[])[]): JudgedLog {
  const judged = new JudgedLog(options);
  for (const [partition, records] of log.entries()) judged.receive(partition, records);
  judged.finish();
  return judged;
}

function ratingsOf({ users }: JudgedLog): string[] {
  const found: string[] = [];
  for (const [user, { row }] of users) {
    for (const { neighbour, value } of row.values()) {
      if (value !== null) found.push(`${user} ${neighbour} ${value}`);
    }
  }
  return found.sort();
}

/** Of each pair, after the last time its user was forgotten: the last of the latest. */
function truth(said: readonly Said[]): string[] {
  const inOrder = [...said.filter(({ stray }) => !stray), ...straysOf(said)];
  const found: string[] = [];
  const pairs = new Set(inOrder.map(({ user, item }) => `${user} ${item}`));
  for (const pair of pairs) {
    const [user = '', item] = pair.split(' ');
    const from = inOrder.findLastIndex((at) => at.user === user && at.value === undefined) + 1;
    const own = inOrder.slice(from).filter((at) => at.user === user && at.item === item);
    const latest = Math.max(...own.map(({ time }) => time));
    const last = own.findLast(({ time }) => time === latest);
    if (typeof last?.value === 'number') found.push(`${pair} ${last.value}`);
  }
  return found.sort();
}

/** They come home partition by partition, after everything else. */
function straysOf(said: readonly Said[]): Said[] {
  const home = ({ user }: Said) => shardOf(user, PARTITIONS);
  return said.filter(({ stray }) => stray).toSorted((a, b) => home(b) - home(a));
}

const someSaid = fc.record({
  user: fc.constantFrom('ann', 'bob', 'cid'),
  item: fc.constantFrom('tea', 'jam'),
  value: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 5 }) },
    { weight: 2, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  ),
  time: fc.integer({ min: 0, max: 4 }),
  stray: fc.boolean(),
});

const rate = (user: string, item: string, value: number | null, time: number): Said => {
  return { user, item, value, time, stray: false };
};

describe('a judged log', () => {
  it('leaves of each pair what was said last about it, since its user was last forgotten', () => {
    fc.assert(
      fc.property(fc.array(someSaid, { maxLength: 40 }), (said) => {
        expect(ratingsOf(judge(logOf(said)))).toEqual(truth(said));
      }),
      { seed: 20_160_515, numRuns: 500 },
    );
  });

  it('keeps a tombstone, so that an older rating does not come back later', () => {
    const { users } = judge(logOf([rate('ann', 'tea', 5, 3), rate('ann', 'tea', null, 4)]));
    expect(users.get('ann')?.row.get('tea')).toEqual({ neighbour: 'tea', value: null, time: 4 });
  });

  it('applies what an updater had sent home once, and marks where it came from', () => {
    const stray = recordOf(rate('ann', 'tea', 2, 1), 0);
    const home = shardOf('ann', PARTITIONS);
    const away = (home + 1) % PARTITIONS;
    const copy = { ...stray, offset: 0, headers: { 'freshet-source': `m/${away}/0` } };
    const newer = { ...recordOf(rate('ann', 'tea', 4, 1), 1) };
    const again = { ...copy, offset: 2 };
    const log: LogRecord[][] = [];
    log[home] = [copy, newer, again];
    log[away] = [stray];
    const judged = judge(log);
    expect(ratingsOf(judged)).toEqual(['ann tea 4']);
    expect([...(judged.forwarded[home] ?? [])]).toEqual([[String(away), 0]]);
  });

  it('drops the copies that another model sent home, and takes the originals', () => {
    const stray = recordOf(rate('ann', 'tea', 2, 1), 7);
    const home = shardOf('ann', PARTITIONS);
    const log: LogRecord[][] = [[], []];
    log[home] = [{ ...stray, offset: 0, headers: { 'freshet-source': 'other/1/7' } }];
    expect(ratingsOf(judge(log))).toEqual([]);
    log[(home + 1) % PARTITIONS] = [stray];
    expect(ratingsOf(judge(log))).toEqual(['ann tea 2']);
  });

  it('parks what can never be applied, with its place', () => {
    const bad = { ...recordOf(rate('ann', 'tea', 6, 1), 12), headers: { trace: 't' } };
    const [letter] = judge([[], [bad]]).parked;
    expect(letter?.value).toEqual(bad.value);
    expect(letter?.headers).toMatchObject({
      trace: 't',
      'freshet-model': 'm',
      'freshet-partition': '1',
      'freshet-offset': '12',
      'freshet-reason': 'bad-value',
    });
  });
});
