import type { Side } from '@freshet/events';
import { defaultModel, Evidence, ShardSums } from '@freshet/model';
import {
  encodeRow,
  MemoryStore,
  NO_FACTS,
  type ShardFacts,
  type StoredVector,
} from '@freshet/store';
import { beforeEach, describe, expect, it } from 'vitest';
import { commitAt, storedOf } from './commit-examples.ts';
import { snapshot, violationsOf } from './store-snapshot.ts';

const settings = { ...defaultModel, factorCount: 2 };
const expected = new Set(['ann tea 5', 'ann milk 1', 'bob tea 2']);
const sent = { count: 3, sum: 77 };

let store: MemoryStore;

function sumsOf(side: Side, ...vectors: StoredVector[]): Uint8Array {
  const sums = ShardSums.zero(side, 2);
  for (const { vector, figures } of vectors) {
    sums.gram.move(undefined, vector, { before: 1, after: figures[0] ?? 1 });
  }
  return sums.toBytes();
}

function evidenceOf(...values: number[]): Uint8Array {
  const evidence = Evidence.empty(settings);
  for (const value of values) {
    evidence.amend({ value, old: null, vector: Float32Array.of(1, value) }, 1);
  }
  return evidence.toBytes();
}

/** One shard a side, as three ratings leave them. */
async function fill(changes: { user?: Partial<ShardFacts>; item?: Partial<ShardFacts> } = {}) {
  store = new MemoryStore();
  const [ann, bob, tea, milk] = [storedOf(1, 2), storedOf(3, 4), storedOf(5, 6), storedOf(7, 8)];
  const whole = (bytes: Uint8Array) => ({ bytes, isWhole: true });
  const at = { time: 0 };
  const users = {
    vectors: new Map([
      ['ann', ann],
      ['bob', bob],
      ['gone', storedOf()],
    ]),
    bodies: new Map([
      [
        'ann',
        whole(
          encodeRow([
            { neighbour: 'tea', value: 5, ...at },
            { neighbour: 'milk', value: 1, ...at },
          ]),
        ),
      ],
      ['bob', whole(encodeRow([{ neighbour: 'tea', value: 2, ...at }]))],
      ['gone', whole(encodeRow([{ neighbour: 'tea', value: null, ...at }]))],
    ]),
    sums: sumsOf('user', ann, bob),
    facts: {
      ...NO_FACTS,
      ratings: 3,
      values: 8,
      life: 4,
      sources: { 'ratings:0': { life: 0, offset: 9, ordinal: 0, applied: { count: 4, sum: 1 } } },
      sent: { 0: sent },
      ...changes.user,
    },
  };
  const items = {
    vectors: new Map([
      ['tea', tea],
      ['milk', milk],
    ]),
    bodies: new Map([
      ['tea', whole(evidenceOf(5, 2))],
      ['milk', whole(evidenceOf(1))],
    ]),
    sums: sumsOf('item', tea, milk),
    facts: {
      ...NO_FACTS,
      sources: { 0: { life: 4, offset: 9, ordinal: 0, applied: sent } },
      ...changes.item,
    },
  };
  await store.takeOver({ side: 'user', shard: 0 }, 1);
  await store.commit({ side: 'user', shard: 0 }, commitAt(0, users));
  await store.takeOver({ side: 'item', shard: 0 }, 1);
  await store.commit({ side: 'item', shard: 0 }, commitAt(0, items));
}

const violations = async () => violationsOf(await snapshot(store, 1, settings), expected);

beforeEach(() => fill());

describe('a store that holds what it should', () => {
  it('is found without fault', async () => {
    expect(await violations()).toEqual([]);
    expect((await snapshot(store, 1, settings)).applied).toBe(4);
  });

  it('is so too where nothing was sent in the life that is', async () => {
    await fill({ user: { life: 5, sent: {} } });
    expect(await violations()).toEqual([]);
  });
});

describe('a store is found wanting', () => {
  it('when a rating is missing, or too much, or of another value', async () => {
    const found = violationsOf(
      await snapshot(store, 1, settings),
      new Set(['ann tea 5', 'ann milk 2', 'bob milk 2']),
    );
    expect(found).toEqual([
      'missing in rows: ann milk 2, bob milk 2',
      'too much in rows: ann milk 1, bob tea 2',
      'item tea has evidence of 2 ratings, not 1',
      'item milk has evidence of 1 ratings, not 2',
      'the values add up to 9, not to 8',
    ]);
  });

  it('when items applied other entries than users sent, or of a life to come', async () => {
    const mark = { life: 4, offset: 9, ordinal: 0, applied: { count: 3, sum: 78 } };
    await fill({ item: { sources: { 0: mark } } });
    expect(await violations()).toEqual([expect.stringMatching(/sent 3 \(77\), applied 3 \(78\)/)]);
    await fill({ item: { sources: { 0: { ...mark, life: 6 } } } });
    expect((await violations())[0]).toMatch(/of life 6, sent in 4/);
    await fill({ item: { sources: {} } });
    expect(await violations()).toHaveLength(1);
  });

  it('when an item weighs another than in the gram', async () => {
    const heavier = new Map([['milk', { ...storedOf(7, 8), figures: Float64Array.of(2.5) }]]);
    const sums = (await store.inspect({ side: 'item', shard: 0 })).sums ?? new Uint8Array();
    const { facts } = await store.inspect({ side: 'item', shard: 0 });
    await store.commit({ side: 'item', shard: 0 }, commitAt(1, { vectors: heavier, sums, facts }));
    expect(await violations()).toEqual([expect.stringMatching(/^a gram is off by/)]);
  });

  it('when |R| or a gram is not what is stored', async () => {
    await fill({ user: { ratings: 2 } });
    await store.commit({ side: 'item', shard: 0 }, commitAt(1, { sums: sumsOf('item') }));
    const found = await violations();
    expect(found).toContainEqual('|R| is 2, not 3');
    expect(found.at(-1)).toMatch(/a gram is off by/);
  });
});
