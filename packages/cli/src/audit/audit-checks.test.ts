import { gramsCodec, type Side, shardOf, sides } from '@freshet/events';
import { encodeRowEntry, type RowEntry, type ShardState } from '@freshet/store';
import { encodeOutbox } from '@freshet/stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from './check.ts';
import { checkTotal } from './check-total.ts';
import { compareSides } from './compare-sides.ts';
import { addInto, packedGram } from './packed-gram.ts';
import {
  checkGrams,
  checkOffsets,
  checkOutboxes,
  checkRows,
  checkVectors,
} from './shard-checks.ts';
import type { ShardReading } from './shard-reading.ts';

const PARTITIONS = 2;
const K = 3;

interface Rated {
  readonly user: string;
  readonly item: string;
  readonly value: number;
}

/** Every user rates two of four items; both shards of both sides have some. */
const users = ['ann', 'bob', 'cid', 'dee', 'eve', 'fay', 'gus', 'hal'];
const ratings: Rated[] = users.flatMap((user, at) => [
  { user, item: `film-${at % 4}`, value: 1 + (at % 5) },
  { user, item: `film-${(at + 1) % 4}`, value: 5 },
]);

function bytesOf(numbers: Float64Array): Uint8Array {
  return new Uint8Array(numbers.buffer);
}

function readingOf(
  side: Side,
  shard: number,
  held: readonly Rated[],
  facts: Record<string, string> = {},
): ShardReading {
  const rows = new Map<string, Uint8Array>();
  const vectors = new Map<string, { vector: Float32Array; trend: number }>();
  let count = 0;
  for (const rated of held) {
    const [owner, neighbour] =
      side === 'user' ? [rated.user, rated.item] : [rated.item, rated.user];
    if (shardOf(owner, PARTITIONS) !== shard) continue;
    const entry: RowEntry = { neighbour, value: rated.value, time: 7 };
    rows.set(owner, Buffer.concat([rows.get(owner) ?? new Uint8Array(), encodeRowEntry(entry)]));
    vectors.set(owner, { vector: Float32Array.of(count, 0.5, -owner.length), trend: 1 });
    count++;
  }
  const gram = packedGram(
    [...vectors.values()].map(({ vector }) => vector),
    K,
  );
  const counted = side === 'user' ? count : 0;
  const state: ShardState = {
    position: 10,
    gram: bytesOf(gram),
    outbox: null,
    facts: { epoch: '4', fence: '4', sequence: '9', ratings: String(counted), ...facts },
  };
  return { id: { side, shard }, state, vectors, rows, still: true };
}

function sideOf(side: Side, held: readonly Rated[] = ratings): ShardReading[] {
  return Array.from({ length: PARTITIONS }, (_, shard) => readingOf(side, shard, held));
}

const whole = [...sideOf('user'), ...sideOf('item')];

/** The same readings with one of them changed. */
function withChange(at: number, change: (reading: ShardReading) => ShardReading): ShardReading[] {
  return whole.map((reading, index) => (index === at ? change(reading) : reading));
}

function withVector(reading: ShardReading, vector: Float32Array): ShardReading {
  const [owner = ''] = reading.vectors.keys();
  return { ...reading, vectors: new Map([...reading.vectors, [owner, { vector, trend: 1 }]]) };
}

describe('an audit of a shard', () => {
  it('finds nothing wrong with a model that fits', () => {
    expect(whole.map(({ vectors }) => vectors.size).every((size) => size > 0)).toBe(true);
    const checks = [
      checkVectors(whole, K),
      checkGrams(whole, K),
      checkRows(whole, PARTITIONS, 5),
      checkOutboxes(whole, new Set()),
    ];
    expect(exitCodeOf(checks)).toBe(0);
    expect(checks.flatMap(({ problems }) => problems)).toEqual([]);
  });

  it('names the owner of a vector that is not finite or too short', () => {
    const bad = withChange(0, (reading) => withVector(reading, Float32Array.of(1, Number.NaN, 2)));
    expect(checkVectors(bad, K)).toMatchObject({ status: 'violated' });
    const short = withChange(3, (reading) => withVector(reading, Float32Array.of(1, 2)));
    expect(checkVectors(short, K).problems[0]).toMatch(/item shard 1, item "film-\d": 2 factors/);
  });

  it('finds a gram that lost one vector, or one part in 10⁸ of a cell', () => {
    const lost = withChange(1, (reading) => withVector(reading, Float32Array.of(9, 9, 9)));
    expect(checkGrams(lost, K).problems[0]).toMatch(/^user shard 1: its gram is off by/);
    const nudged = withChange(1, (reading) => {
      const cells = new Float64Array(Uint8Array.from(reading.state.gram ?? []).buffer);
      const largest = Math.max(...cells.map(Math.abs));
      cells[2] = (cells[2] ?? 0) + 1e-8 * largest;
      return { ...reading, state: { ...reading.state, gram: bytesOf(cells) } };
    });
    expect(checkGrams(nudged, K).status).toBe('violated');
  });

  it('does not judge a shard that kept moving, and says so', () => {
    const moving = withChange(1, (reading) => ({
      ...withVector(reading, Float32Array.of(9, 9, 9)),
      still: false,
    }));
    expect(checkGrams(moving, K)).toMatchObject({ status: 'not settled' });
    expect(exitCodeOf([checkGrams(moving, K)])).toBe(2);
  });

  it('finds a count that differs from the rows, a strange owner and a value off the scale', () => {
    const counts = withChange(0, (reading) => {
      const facts = { ...reading.state.facts, ratings: '99' };
      return { ...reading, state: { ...reading.state, facts } };
    });
    expect(checkRows(counts, PARTITIONS, 5).problems[0]).toContain('counts 99 ratings');
    const strange = withChange(0, (reading) => ({ ...reading, id: { side: 'user', shard: 1 } }));
    expect(checkRows(strange, PARTITIONS, 5).problems[0]).toContain('not its shard');
    expect(checkRows(whole, PARTITIONS, 4).problems[0]).toMatch(/its rating of .* is 5/);
  });

  it('finds a vector whose ratings are gone', () => {
    const emptied = withChange(0, (reading) => ({ ...reading, rows: new Map() }));
    expect(checkRows(emptied, PARTITIONS, 5).problems[0]).toContain('a vector without ratings');
  });

  it('finds a position beyond its log, behind its start, or of a source that was recreated', () => {
    const logs = (first: number, end: number) => {
      const range = new Map([0, 1].map((at) => [at, { first, end }]));
      return { user: range, item: range };
    };
    expect(checkOffsets(whole, logs(0, 10)).status).toBe('ok');
    expect(checkOffsets(whole, logs(0, 9)).problems).toHaveLength(4);
    expect(checkOffsets(whole, logs(11, 12)).problems).toHaveLength(4);
    const user = readingOf('user', 1, ratings, { life: '3' });
    const marked = (mark: string) => [user, readingOf('item', 0, ratings, { 'source:1': mark })];
    expect(checkOffsets(marked('3:10:2'), logs(0, 11)).status).toBe('ok');
    const { problems } = checkOffsets(marked('3:10:2'), logs(0, 10));
    expect(problems.join()).toContain('applied 10 of partition 1');
    // Of an earlier life of the log: those offsets are no longer its own.
    expect(checkOffsets(marked('2:99:0'), logs(0, 11)).status).toBe('ok');
  });

  it('finds an outbox that cannot be read, or is for a topic nobody has', () => {
    const boxed = (outbox: Uint8Array) =>
      withChange(0, (reading) => ({ ...reading, state: { ...reading.state, outbox } }));
    const record = { topic: 'item-ratings', partition: 0, key: 'a', value: null };
    const known = new Set(['item-ratings']);
    expect(checkOutboxes(boxed(encodeOutbox([record])), known).status).toBe('ok');
    expect(checkOutboxes(boxed(encodeOutbox([record])), new Set()).status).toBe('violated');
    const cut = encodeOutbox([record]).subarray(0, 9);
    expect(checkOutboxes(boxed(cut), known).problems[0]).toContain('user shard 0: not readable');
  });
});

describe('an audit of the published sum', () => {
  const sums = { user: packedGram([], K), item: packedGram([], K) };
  for (const { id, state } of whole) {
    addInto(sums[id.side], new Float64Array(Uint8Array.from(state.gram ?? []).buffer));
  }
  const event = (change: object = {}) =>
    gramsCodec.decode(
      gramsCodec.encode({
        factorCount: K,
        user: bytesOf(sums.user),
        item: bytesOf(sums.item),
        ratings: ratings.length,
        parts: whole.map(({ id }) => ({ ...id, epoch: 4, sequence: 9 })),
        ...change,
      }),
    );

  it('accepts the sum of what the shards hold', () => {
    expect(checkTotal(whole, event(), K)).toMatchObject({ status: 'ok', problems: [] });
  });

  it('does not judge a sum of other states of the shards', () => {
    const older = whole.map(({ id }) => ({ ...id, epoch: 4, sequence: 8 }));
    expect(checkTotal(whole, event({ parts: older }), K).status).toBe('not settled');
    expect(checkTotal(whole, undefined, K).status).toBe('not settled');
  });

  it('accepts a part that a take-over published again under its own epoch', () => {
    const fenced = whole.map((reading) => {
      const facts = { ...reading.state.facts, fence: '6' };
      return { ...reading, state: { ...reading.state, facts } };
    });
    const parts = whole.map(({ id }) => ({ ...id, epoch: 6, sequence: 9 }));
    expect(checkTotal(fenced, event({ parts }), K).status).toBe('ok');
  });

  it('finds a sum that is off, and a wrong number of ratings', () => {
    const off = event({ user: bytesOf(packedGram([Float32Array.of(1, 1, 1)], K)) });
    expect(checkTotal(whole, off, K).problems[0]).toContain('the sum of the user grams is off');
    expect(checkTotal(whole, event({ ratings: 3 }), K).problems[0]).toContain('|R| is 3');
  });
});

describe('the rows of both sides', () => {
  const compare = (users: readonly Rated[], items: readonly Rated[], aside: string[] = []) =>
    compareSides({
      users: sideOf('user', users),
      items: sideOf('item', items),
      partitions: PARTITIONS,
      setAside: new Set(aside),
    });

  it('are the same when they hold the same ratings in any order', () => {
    const check = compare(ratings, ratings.toReversed());
    expect(check).toMatchObject({ status: 'ok' });
    expect(check.checked).toContain(`${ratings.length} ratings are the same`);
  });

  it('differ by each rating that one side lacks or has otherwise, and by no other', () => {
    const rated = fc.constantFrom(...ratings.keys());
    fc.assert(
      fc.property(rated, fc.constantFrom(...sides), fc.boolean(), (at, side, lost) => {
        const wrong = lost
          ? ratings.toSpliced(at, 1)
          : ratings.with(at, { ...(ratings[at] ?? { user: '', item: '' }), value: 0.5 });
        const check = side === 'user' ? compare(wrong, ratings) : compare(ratings, wrong);
        expect(check.problems).toHaveLength(1);
        expect(check.problems[0]).toContain(JSON.stringify(ratings[at]?.user));
        expect(exitCodeOf([check])).toBe(1);
      }),
      { seed: 20_160_515 },
    );
  });

  it('are not compared for a user who rated meanwhile', () => {
    const [first] = ratings;
    expect(compare(ratings.slice(1), ratings).status).toBe('violated');
    expect(compare(ratings.slice(1), ratings, [first?.user ?? '']).status).toBe('ok');
  });
});
