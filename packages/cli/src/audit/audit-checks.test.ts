import { gramsCodec, type Side, shardOf } from '@freshet/events';
import {
  defaultModel,
  Evidence,
  figuresOf,
  firstTheta,
  LESSONS_BYTES,
  NO_STATISTICS,
} from '@freshet/model';
import type { SourcePartition } from '@freshet/positions';
import {
  encodeRow,
  NO_FACTS,
  NO_TALLY,
  plus,
  type RowEntry,
  type ShardFacts,
  type ShardState,
  type StoredVector,
  type Tally,
} from '@freshet/store';
import { encodeOutbox } from '@freshet/stream';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from './check.ts';
import { checkEvidence, checkTallies, type Flow } from './check-flow.ts';
import { checkTotal } from './check-total.ts';
import { addInto, gramOf, packedGram } from './packed-gram.ts';
import {
  checkGrams,
  checkOffsets,
  checkOutboxes,
  checkRows,
  checkVectors,
} from './shard-checks.ts';
import type { ShardReading } from './shard-reading.ts';

const SHARDS = 2;
const K = 3;
const settings = { ...defaultModel, factorCount: K };

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

function bodyOf(side: Side, owned: readonly Rated[]): Uint8Array {
  if (side === 'user') {
    return encodeRow(
      owned.map(({ item, value }): RowEntry => ({ neighbour: item, value, time: 7 })),
    );
  }
  const evidence = Evidence.empty(settings);
  const vector = Float32Array.of(1, 2, 3);
  for (const { value } of owned) evidence.amend({ value, old: null, vector }, 1);
  return evidence.toBytes();
}

/** As many entries, and a sum that tells one set from another. */
function tallyOf(some: readonly Rated[]): Tally {
  return some
    .map(({ user, item, value }) => ({ count: 1, sum: 31 * user.length + item.length + value }))
    .reduce(plus, NO_TALLY);
}

/** What user shard `from` sent to item shard `to`. */
function sentOf(from: number, to: number): Tally {
  return tallyOf(
    ratings.filter(({ user, item }) => {
      return shardOf(user, SHARDS) === from && shardOf(item, SHARDS) === to;
    }),
  );
}

function factsOf(side: Side, shard: number, count: number): ShardFacts {
  const facts = { ...NO_FACTS, epoch: 4, sequence: 9, life: 3 };
  const mark = { life: 3, offset: 9, ordinal: 0 };
  if (side === 'item') {
    const marks = [0, 1].map((from) => [from, { ...mark, applied: sentOf(from, shard) }]);
    return { ...facts, sources: Object.fromEntries(marks) };
  }
  const own = ratings.filter(({ user }) => shardOf(user, SHARDS) === shard);
  const sources = { 'clicks@Xy:0': { ...mark, applied: tallyOf(own) } };
  const sent = { 0: sentOf(shard, 0), 1: sentOf(shard, 1) };
  return { ...facts, ratings: count, sources, sent };
}

/** Of an item with what it weighs in the gram. */
function storedOf(side: Side, vector: Float32Array, weight: number): StoredVector {
  const figures = side === 'item' ? figuresOf(weight, NO_STATISTICS) : new Float64Array();
  return { vector, figures };
}

function readingOf(side: Side, shard: number): ShardReading {
  const owners = new Map<string, Rated[]>();
  for (const rated of ratings) {
    const owner = side === 'user' ? rated.user : rated.item;
    if (shardOf(owner, SHARDS) === shard) owners.set(owner, [...(owners.get(owner) ?? []), rated]);
  }
  const vectors = new Map(
    [...owners.keys()].map((owner, at) => {
      return [owner, storedOf(side, Float32Array.of(at, 0.5, -owner.length), 1 + at / 4)];
    }),
  );
  const bodies = new Map([...owners].map(([owner, owned]) => [owner, bodyOf(side, owned)]));
  const held = [...vectors.values()].map(({ vector, figures: [weight = 1] }) => ({
    vector,
    weight,
  }));
  const lessons = new Uint8Array(side === 'user' ? LESSONS_BYTES : 0);
  const state: ShardState = {
    position: 10,
    fence: 4,
    commit: 'c',
    sums: Buffer.concat([bytesOf(packedGram(held, K)), lessons]),
    outbox: null,
    facts: factsOf(side, shard, [...owners.values()].flat().length),
  };
  return { id: { side, shard }, state, vectors, bodies, still: true };
}

const whole = (['user', 'item'] as const).flatMap((side) => {
  return [0, 1].map((shard) => readingOf(side, shard));
});

const intake: SourcePartition = {
  topic: 'clicks',
  partition: 0,
  start: 0,
  end: 10,
  position: 10,
  mark: { topicId: 'Xy', life: 3, sent: tallyOf(ratings) },
};

/** The same readings with one of them changed. */
function withChange(at: number, change: (reading: ShardReading) => ShardReading): ShardReading[] {
  return whole.map((reading, index) => (index === at ? change(reading) : reading));
}

function withFacts(reading: ShardReading, changed: Partial<ShardFacts>): ShardReading {
  const facts = { ...reading.state.facts, ...changed };
  return { ...reading, state: { ...reading.state, facts } };
}

function withVector(reading: ShardReading, vector: Float32Array): ShardReading {
  const [owner = ''] = reading.vectors.keys();
  const figures = reading.vectors.get(owner)?.figures ?? new Float64Array();
  return { ...reading, vectors: new Map([...reading.vectors, [owner, { vector, figures }]]) };
}

function flowOf(readings: readonly ShardReading[], isAtRest = true): Flow {
  return { users: readings.slice(0, 2), items: readings.slice(2), sources: [intake], isAtRest };
}

describe('an audit of a shard', () => {
  it('finds nothing wrong with a model that fits', () => {
    expect(whole.map(({ vectors }) => vectors.size).every((size) => size > 0)).toBe(true);
    const checks = [
      checkVectors(whole, K),
      checkGrams(whole, K),
      checkRows(whole, SHARDS, 5),
      checkEvidence(flowOf(whole), SHARDS, settings),
      checkTallies(flowOf(whole)),
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
      const cells = new Float64Array(Uint8Array.from(reading.state.sums ?? []).buffer);
      const largest = Math.max(...cells.map(Math.abs));
      cells[2] = (cells[2] ?? 0) + 1e-8 * largest;
      return { ...reading, state: { ...reading.state, sums: bytesOf(cells) } };
    });
    expect(checkGrams(nudged, K).status).toBe('violated');
  });

  it('finds an item that weighs another than the gram has it, and a figure that is none', () => {
    const withWeight = (weight: number) =>
      withChange(2, (reading) => {
        const [[owner, { vector }] = ['', { vector: new Float32Array() }]] = reading.vectors;
        const changed = storedOf('item', vector, weight);
        return { ...reading, vectors: new Map([...reading.vectors, [owner, changed]]) };
      });
    expect(checkGrams(withWeight(1), K).status).toBe('ok');
    const { status, problems } = checkGrams(withWeight(1.01), K);
    expect(status).toBe('violated');
    expect(problems).toEqual([expect.stringMatching(/^item shard 0: its gram is off by/)]);
    expect(checkVectors(withWeight(1.01), K).status).toBe('ok');
    expect(checkVectors(withWeight(Number.NaN), K).problems[0]).toContain('a figure is not');
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
    const counts = withChange(0, (reading) => withFacts(reading, { ratings: 99 }));
    expect(checkRows(counts, SHARDS, 5).problems[0]).toContain('counts 99 ratings');
    const strange = withChange(0, (reading) => ({ ...reading, id: { side: 'user', shard: 1 } }));
    expect(checkRows(strange, SHARDS, 5).problems[0]).toContain('not its shard');
    expect(checkRows(whole, SHARDS, 4).problems[0]).toMatch(/the rating of .* is 5/);
  });

  it('finds a vector whose ratings are gone', () => {
    const emptied = withChange(0, (reading) => ({ ...reading, bodies: new Map() }));
    expect(checkRows(emptied, SHARDS, 5).problems[0]).toContain('a vector without ratings');
  });

  it('finds a position beyond its log, behind its start, or of a source that was recreated', () => {
    const logs = (start: number, end: number) => {
      const range = new Map([0, 1].map((at) => [at, { start, end }]));
      return { user: range, item: range };
    };
    expect(checkOffsets(whole, [intake], logs(0, 10)).status).toBe('ok');
    expect(checkOffsets(whole, [], logs(0, 9)).problems).toHaveLength(4 + 4);
    expect(checkOffsets(whole, [], logs(11, 12)).problems).toHaveLength(4);
    const beyond = checkOffsets(whole, [{ ...intake, end: 9 }], logs(0, 10)).problems.join();
    expect(beyond).toContain('clicks/0: intake is at 10, the log holds 0 to 9');
    expect(beyond).toContain('user shard 0: applied 9 of clicks@Xy:0, which ends at 9');
  });

  it('does not take offsets of an earlier life of a log for offsets of this one', () => {
    const range = new Map([0, 1].map((at) => [at, { start: 0, end: 10 }]));
    const applied = { life: 2, offset: 99, ordinal: 0, applied: NO_TALLY };
    const old = withChange(2, (reading) => withFacts(reading, { sources: { 1: applied } }));
    expect(checkOffsets(old, [intake], { user: range, item: range }).status).toBe('ok');
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
    addInto(sums[id.side], gramOf(state, K) ?? packedGram([], K));
  }
  const event = (change: object = {}) =>
    gramsCodec.decode(
      gramsCodec.encode({
        factorCount: K,
        user: bytesOf(sums.user),
        item: bytesOf(sums.item),
        ratings: ratings.length,
        values: 0,
        clock: 0,
        theta: firstTheta(),
        learnt: new Uint8Array(),
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
      return { ...reading, state: { ...reading.state, fence: 6 } };
    });
    const parts = whole.map(({ id }) => ({ ...id, epoch: 6, sequence: 9 }));
    expect(checkTotal(fenced, event({ parts }), K).status).toBe('ok');
  });

  it('finds a sum that is off, and a wrong number of ratings', () => {
    const other = { vector: Float32Array.of(1, 1, 1), weight: 1 };
    const off = event({ user: bytesOf(packedGram([other], K)) });
    expect(checkTotal(whole, off, K).problems[0]).toContain('the sum of the user grams is off');
    expect(checkTotal(whole, event({ ratings: 3 }), K).problems[0]).toContain('|R| is 3');
  });
});

describe('an audit of the flow', () => {
  it('finds an entry that intake sent and no user shard applied', () => {
    const mark = { life: 3, offset: 9, ordinal: 0, applied: tallyOf(ratings.slice(0, 1)) };
    const lost = withChange(0, (reading) =>
      withFacts(reading, { sources: { 'clicks@Xy:0': mark } }),
    );
    const { status, problems } = checkTallies(flowOf(lost));
    expect(status).toBe('violated');
    expect(problems[0]).toMatch(/^clicks\/0 to the user shards: 16 sent, \d+ applied$/);
  });

  it('finds another entry in place of one that was sent, though there are as many', () => {
    const { facts } = whole[2]?.state ?? { facts: NO_FACTS };
    const [first] = Object.values(facts.sources);
    if (first === undefined) throw new Error('nothing was applied');
    const applied = { ...first.applied, sum: first.applied.sum + 1 };
    const sources = { ...facts.sources, 0: { ...first, applied } };
    const other = withChange(2, (reading) => withFacts(reading, { sources }));
    expect(checkTallies(flowOf(other)).problems).toEqual([
      `user shard 0 to item shard 0: ${applied.count} sent, ${applied.count} applied, not the same`,
    ]);
  });

  it('compares only what is of the present life of a source', () => {
    const earlier = { life: 2, offset: 4, ordinal: 0, applied: tallyOf(ratings) };
    const begun = withChange(0, (reading) => {
      const sources = { ...reading.state.facts.sources, 'older:0': earlier };
      return withFacts(reading, { sources });
    });
    expect(checkTallies(flowOf(begun)).status).toBe('ok');
    const anew = whole.map((reading) =>
      reading.id.side === 'user' ? withFacts(reading, { life: 8, sent: {} }) : reading,
    );
    expect(checkTallies(flowOf(anew)).status).toBe('ok');
  });

  it('does not judge what moves, and sets aside what a person has accepted to lose', () => {
    const wrong = withChange(0, (reading) => withFacts(reading, { sent: {} }));
    expect(checkTallies(flowOf(wrong, false)).status).toBe('not settled');
    const accepted = [{ at: '2025-01-02', kind: 'cut', from: 3, next: 9 }];
    const lossy = wrong.map((reading) => withFacts(reading, { accepted }));
    expect(checkTallies(flowOf(lossy))).toMatchObject({ status: 'ok' });
    expect(checkTallies(flowOf(lossy)).checked).toContain('5 not compared');
  });

  it('finds items whose evidence is gone, broken, or of too few ratings', () => {
    const check = (change: (bodies: Map<string, Uint8Array>, item: string) => void) => {
      const changed = withChange(2, (reading) => {
        const bodies = new Map(reading.bodies);
        const [item = ''] = bodies.keys();
        change(bodies, item);
        return { ...reading, bodies };
      });
      return checkEvidence(flowOf(changed), SHARDS, settings).problems.join();
    };
    expect(check((bodies, item) => bodies.delete(item))).toContain('a vector without evidence');
    expect(check((bodies, item) => bodies.set(item, Uint8Array.of(1)))).toContain('not readable');
    const one = bodyOf('item', ratings.slice(0, 1));
    expect(check((bodies, item) => bodies.set(item, one))).toMatch(
      /items have evidence of 13 ratings, users have 16/,
    );
  });
});
