/** The contract of every factor store, run by the memory store and by Redis on a real server. */
import { type FactorStore, NO_FACTS, type ShardFacts, StaleEpoch } from '@freshet/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bytes, commitAt, contentOf, shard, storedOf, vectorsOf } from './commit-examples.ts';
import { manifestLaws, rebuildLaws } from './model-laws.ts';
import { copyLaws, reservationLaws, restoreLaws } from './snapshot-laws.ts';

const awkwardIds = ['a b', 'a:b', '{u:3}', '}{', '🎬', '*', '\0', '__proto__', 'x'.repeat(256)];

/** Every fact has a value of its own. */
const facts: ShardFacts = {
  epoch: 1,
  sequence: 7,
  ratings: 2 ** 40,
  values: 1.5,
  moves: 2 ** 41,
  clock: 0.25,
  life: 0,
  leastLife: 3,
  topicId: 'Xy3k9PqlTZ2h_0aVbNcDeQ',
  sources: {
    'clicks:11': { life: 2, offset: 91, ordinal: 0, applied: { count: 4, sum: 2 ** 48 - 1 } },
    'views of 2024:0': { life: 0, offset: -1, ordinal: -1, applied: { count: 0, sum: 0 } },
  },
  sent: { 0: { count: 1, sum: 2 }, 1023: { count: 3, sum: 4 } },
  progress: { offset: 17, decisions: 16 },
  accepted: [{ at: '2025-01-02T03:04:05Z', kind: 'cut', from: null, next: 9 }],
  factorized: 8,
  restorations: [{ epoch: 9, lives: { 0: 3, 15: 4 } }],
};

/** `open` returns an empty store, which is closed after each test. */
export function factorStoreContract(name: string, open: () => Promise<FactorStore>): void {
  let store: FactorStore;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());

  describe(`${name}: taking a shard over`, () => takeOverLaws(() => store));
  describe(`${name}: a commit`, () => commitLaws(() => store));
  describe(`${name}: what was committed`, () => contentLaws(() => store));
  describe(`${name}: loading`, () => loadLaws(() => store));
  describe(`${name}: the manifest`, () => manifestLaws(() => store));
  describe(`${name}: a rebuild`, () => rebuildLaws(() => store));
  describe(`${name}: a copy`, () => copyLaws(() => store));
  describe(`${name}: restoring`, () => restoreLaws(() => store));
  describe(`${name}: a restore`, () => reservationLaws(() => store));
}

function takeOverLaws(store: () => FactorStore): void {
  it('finds nothing in a shard that nobody ever wrote', async () => {
    const head = { position: null, fence: null, commit: null, facts: NO_FACTS };
    const empty = { ...head, sums: null, outbox: null };
    expect(await store().head(shard)).toEqual(head);
    expect(await store().inspect(shard)).toEqual(empty);
    expect(await vectorsOf(store(), shard)).toEqual(new Map());
    expect(await store().entity(shard, 'u')).toEqual({ ...head, stored: null, body: null });
    expect(await store().takeOver(shard, 1)).toEqual(empty);
  });

  it('tells the state as it was before, the former fence included', async () => {
    expect((await store().takeOver(shard, 4)).fence).toBeNull();
    expect((await store().head(shard)).fence).toBe(4);
    expect((await store().takeOver(shard, 9)).fence).toBe(4);
    expect((await store().inspect(shard)).fence).toBe(9);
    expect((await store().head(shard)).position).toBeNull();
  });

  it('hands the last commit to the next writer: position, id, sums, outbox and facts', async () => {
    await store().takeOver(shard, 1);
    await store().commit(shard, commitAt(0, { next: 40, outbox: bytes(5, 0, 255), facts }));
    const inspected = await store().inspect(shard);
    const state = await store().takeOver(shard, 2);
    expect(state).toEqual(inspected);
    expect(state).toMatchObject({ position: 40, fence: 1, commit: 'commit-0', facts });
    expect(state.facts).toEqual(facts);
    expect(Array.from(state.sums ?? [])).toEqual([0]);
    expect(Array.from(state.outbox ?? [])).toEqual([5, 0, 255]);
    const { sums: _, outbox: __, ...head } = await store().inspect(shard);
    expect(await store().head(shard)).toEqual(head);
  });

  it('is refused to an epoch that is not above the fence, which stays', async () => {
    await store().takeOver(shard, 5);
    for (const epoch of [5, 4, 1]) {
      await expect(store().takeOver(shard, epoch)).rejects.toThrow(StaleEpoch);
    }
    expect(await store().commit(shard, commitAt(0, { epoch: 5 }))).toEqual({ kind: 'written' });
  });

  it('is one step: of two at once, the fence of the higher epoch stays', async () => {
    const both = [store().takeOver(shard, 6), store().takeOver(shard, 5)];
    await Promise.allSettled(both);
    expect((await store().head(shard)).fence).toBe(6);
  });

  it('compares epochs as numbers: 10 is above 9', async () => {
    await store().takeOver(shard, 9);
    await store().takeOver(shard, 10);
    await expect(store().takeOver(shard, 9)).rejects.toThrow(StaleEpoch);
  });

  it('fences one shard of one side and no other', async () => {
    await store().takeOver(shard, 5);
    await store().takeOver({ side: 'item', shard: 3 }, 1);
    await store().takeOver({ side: 'user', shard: 2 }, 1);
  });
}

function commitLaws(store: () => FactorStore): void {
  const ids = ['u', 'new'];
  const first = commitAt(0, {
    vectors: new Map([['u', storedOf(1, 2)]]),
    bodies: new Map([['u', { bytes: bytes(1), isWhole: false }]]),
    facts: { ...NO_FACTS, ratings: 1 },
  });
  /** A commit that would change every part of the shard if it were written. */
  const second = commitAt(1, {
    vectors: new Map([['new', storedOf(8, 9)]]),
    removed: ['u'],
    bodies: new Map([['new', { bytes: bytes(7), isWhole: true }]]),
    outbox: bytes(9),
    facts: { ...NO_FACTS, ratings: 2 },
  });
  beforeEach(async () => {
    await store().takeOver(shard, 1);
    expect(await store().commit(shard, first)).toEqual({ kind: 'written' });
  });

  async function expectUnchangedBy(commit: typeof first, verdict: object): Promise<void> {
    const before = await contentOf(store(), shard, ids);
    expect(await store().commit(shard, commit)).toEqual(verdict);
    expect(await contentOf(store(), shard, ids)).toEqual(before);
  }

  it('sent again with its id is recognised, and not written twice', async () => {
    await expectUnchangedBy(first, { kind: 'written' });
  });

  it('from another position is refused, and tells where the store is', async () => {
    for (const from of [0, 2]) {
      await expectUnchangedBy({ ...second, from }, { kind: 'elsewhere', position: 1 });
    }
  });

  it('of a replaced writer is refused, and tells the fence', async () => {
    await store().takeOver(shard, 2);
    await expectUnchangedBy(second, { kind: 'fenced', fence: 2 });
    // Even a commit that was written before is refused: its writer must not continue.
    await expectUnchangedBy(first, { kind: 'fenced', fence: 2 });
  });

  it('of an epoch above the fence is refused too: the store lost the take-over', async () => {
    await expectUnchangedBy({ ...second, epoch: 3 }, { kind: 'fenced', fence: 1 });
  });

  it('to a shard that nobody took over is refused', async () => {
    const other = { side: 'user', shard: 0 } as const;
    expect((await store().commit(other, first)).kind).toBe('fenced');
    expect((await store().inspect(other)).position).toBeNull();
  });

  it('may leave the position where it is: a slice of a large batch', async () => {
    const slice = { ...second, id: 'slice', next: 1 };
    expect(await store().commit(shard, slice)).toEqual({ kind: 'written' });
    expect(await store().commit(shard, { ...second, removed: [] })).toEqual({ kind: 'written' });
    expect((await store().inspect(shard)).position).toBe(2);
  });

  it('replaces sums, outbox and all facts, and tells its id', async () => {
    await store().commit(shard, { ...second, facts });
    await store().commit(shard, commitAt(2, { facts: { ...NO_FACTS, sequence: 3 } }));
    const state = await store().inspect(shard);
    const parts = [Array.from(state.sums ?? []), Array.from(state.outbox ?? [])];
    expect([...parts, state.position, state.commit]).toEqual([[2], [], 3, 'commit-2']);
    expect(state.facts).toEqual({ ...NO_FACTS, sequence: 3 });
  });
}

function contentLaws(store: () => FactorStore): void {
  const bodyOf = async (id: string): Promise<number[] | null> => {
    const { body } = await store().entity(shard, id);
    return body && Array.from(body);
  };
  beforeEach(() => store().takeOver(shard, 1));

  it('keeps as many figures with each vector as were given, none among them', async () => {
    const figuresOf = async (): Promise<Record<string, number[]>> => {
      const found: Record<string, number[]> = {};
      for await (const [id, { figures }] of store().vectors(shard)) found[id] = [...figures];
      return found;
    };
    const withFigures = (...figures: number[]) => {
      return { vector: Float32Array.of(1, 2), figures: Float64Array.from(figures) };
    };
    const six = [0.5, 3, 1, -7.25, Number.NEGATIVE_INFINITY, 1e300];
    const vectors = new Map([
      ['none', withFigures()],
      ['six', withFigures(...six)],
      ['gone', { vector: new Float32Array(), figures: Float64Array.from(six) }],
    ]);
    await store().commit(shard, commitAt(0, { vectors }));
    expect(await figuresOf()).toEqual({ none: [], six, gone: six });
    expect((await store().entity(shard, 'six')).stored?.figures).toEqual(Float64Array.from(six));
    const [found] = await store().load(shard, ['none']);
    expect(found?.stored).toEqual(withFigures());
    const moved = new Map([['six', withFigures(...six.toReversed())]]);
    await store().commit(shard, commitAt(1, { vectors: moved }));
    expect(await figuresOf()).toEqual({ none: [], six: six.toReversed(), gone: six });
  });

  it('comes back bit for bit: −0, denormals, the largest number', async () => {
    const vector = Float32Array.of(0.1, -0, 1e-45, -1e-45, 3.4028234663852886e38, 0);
    const figures = Float64Array.of(5e-324, Number.NEGATIVE_INFINITY);
    await store().commit(shard, commitAt(0, { vectors: new Map([['u', { vector, figures }]]) }));
    const bitsOf = (numbers: Float32Array) => Array.from(new Uint32Array(numbers.slice().buffer));
    for await (const [id, stored] of store().vectors(shard)) {
      expect([id, stored.figures]).toEqual(['u', figures]);
      expect(bitsOf(stored.vector)).toEqual(bitsOf(vector));
    }
    const { stored } = await store().entity(shard, 'u');
    expect(bitsOf(stored?.vector ?? new Float32Array())).toEqual(bitsOf(vector));
  });

  it('does not change when writer or reader go on using their arrays and facts', async () => {
    const stored = storedOf(1, 2);
    const body = bytes(1);
    const sources: Record<string, ShardFacts['sources'][string]> = { ...facts.sources };
    const commit = commitAt(0, {
      vectors: new Map([['u', stored]]),
      bodies: new Map([['u', { bytes: body, isWhole: true }]]),
      facts: { ...facts, sources },
    });
    await store().commit(shard, commit);
    const before = await contentOf(store(), shard, ['u']);
    for (const array of [stored.vector, stored.figures, body, commit.sums]) array.fill(9);
    delete sources['clicks:11'];
    const read = await store().entity(shard, 'u');
    for (const array of [read.stored?.vector, read.stored?.figures, read.body]) array?.fill(9);
    (await store().inspect(shard)).sums?.fill(9);
    expect(await contentOf(store(), shard, ['u'])).toEqual(before);
  });

  it('may be an empty vector: a row kept for its tombstones alone', async () => {
    await store().commit(shard, commitAt(0, { vectors: new Map([['u', storedOf()]]) }));
    expect((await store().entity(shard, 'u')).stored).toEqual(storedOf());
  });

  it('grows bodies by appending, in the order of commits, and replaces those that are whole', async () => {
    const written = (at: number, isWhole: boolean) =>
      commitAt(at, { bodies: new Map([['u', { bytes: bytes(at, 255), isWhole }]]) });
    for (let at = 0; at < 3; at++) await store().commit(shard, written(at, false));
    expect(await bodyOf('u')).toEqual([0, 255, 1, 255, 2, 255]);
    await store().commit(shard, written(3, true));
    expect(await bodyOf('u')).toEqual([3, 255]);
    await store().commit(shard, written(4, false));
    expect(await bodyOf('u')).toEqual([3, 255, 4, 255]);
  });

  it('takes bodies of both kinds in one commit, each to its own id', async () => {
    const bodies = (at: number) =>
      new Map(
        ['a', 'b', 'c', 'd'].map((id, nth) => {
          return [id, { bytes: bytes(at, nth), isWhole: nth % 2 === 1 }] as const;
        }),
      );
    await store().commit(shard, commitAt(0, { bodies: bodies(0) }));
    await store().commit(shard, commitAt(1, { bodies: bodies(1), removed: ['nobody', 'neither'] }));
    const found = await Promise.all(['a', 'b', 'c', 'd'].map(bodyOf));
    expect(found).toEqual([
      [0, 0, 1, 0],
      [1, 1],
      [0, 2, 1, 2],
      [1, 3],
    ]);
  });

  it.each([false, true])(
    'loses vector and body of what is removed; written in the same commit (whole: %s), it starts anew',
    async (isWhole) => {
      const entry = (value: number, ids: string[]) => ({
        vectors: new Map(ids.map((id) => [id, storedOf(value)])),
        bodies: new Map(ids.map((id) => [id, { bytes: bytes(value), isWhole }])),
      });
      await store().commit(shard, commitAt(0, entry(1, ['u', 'v'])));
      const again = { ...entry(2, ['u']), removed: ['u', 'v', 'nobody'] };
      await store().commit(shard, commitAt(1, again));
      expect(await vectorsOf(store(), shard)).toEqual(new Map([['u', Float32Array.of(2)]]));
      expect([await bodyOf('u'), await bodyOf('v')]).toEqual([[2], null]);
    },
  );

  it('may be thousands of vectors and bodies at once', async () => {
    const ids = Array.from({ length: 3_000 }, (_, at) => `user-${at}`);
    const vectors = new Map(ids.map((id, at) => [id, storedOf(at)]));
    const bodies = new Map(
      ids.map((id, at) => [id, { bytes: bytes(at % 256), isWhole: at % 3 === 0 }]),
    );
    const verdict = await store().commit(shard, commitAt(0, { vectors, bodies }));
    expect(verdict).toEqual({ kind: 'written' });
    expect((await vectorsOf(store(), shard)).size).toBe(ids.length);
    const found = await store().load(shard, ids);
    expect(found.map(({ body }) => body?.[0])).toEqual(ids.map((_, at) => at % 256));
  });

  it('stays in its shard and its side', async () => {
    const bodies = new Map([['u', { bytes: bytes(1), isWhole: true }]]);
    await store().commit(shard, commitAt(0, { vectors: new Map([['u', storedOf(1)]]), bodies }));
    for (const other of [
      { side: 'item', shard: 3 } as const,
      { side: 'user', shard: 30 } as const,
    ]) {
      expect(await vectorsOf(store(), other)).toEqual(new Map());
      expect(await store().entity(other, 'u')).toMatchObject({ stored: null, body: null });
      expect((await store().inspect(other)).position).toBeNull();
    }
  });
}

function loadLaws(store: () => FactorStore): void {
  const nothing = { stored: null, body: null };
  const plain = (found: Awaited<ReturnType<FactorStore['load']>>) =>
    found.map(({ stored, body }) => ({ stored, body: body && Array.from(body) }));
  beforeEach(() => store().takeOver(shard, 1));

  it('gives nobody for nobody, and nothing for those that are unknown', async () => {
    expect(await store().load(shard, [])).toEqual([]);
    expect(await store().load(shard, ['nobody', 'neither'])).toEqual([nothing, nothing]);
    await store().commit(shard, commitAt(0));
    expect(await store().load(shard, ['nobody'])).toEqual([nothing]);
  });

  it('keeps the order asked for, with vector, body, both or neither, and asked twice', async () => {
    const vectors = new Map([
      ['both', storedOf(1)],
      ['vector', storedOf(2)],
    ]);
    const bodies = new Map(
      ['both', 'body'].map((id, at) => [id, { bytes: bytes(at), isWhole: false }] as const),
    );
    await store().commit(shard, commitAt(0, { vectors, bodies }));
    const asked = ['nobody', 'body', 'vector', 'both', 'nobody', 'both', 'neither'];
    const both = { stored: storedOf(1), body: [0] };
    expect(plain(await store().load(shard, asked))).toEqual([
      nothing,
      { stored: null, body: [1] },
      { stored: storedOf(2), body: null },
      both,
      nothing,
      both,
      nothing,
    ]);
  });

  it('finds whoever has an awkward id, alone too, and where the shard was', async () => {
    const vectors = new Map(awkwardIds.map((id, at) => [id, storedOf(at)] as const));
    const bodies = new Map(
      awkwardIds.map((id, at) => [id, { bytes: bytes(at), isWhole: at % 2 === 0 }] as const),
    );
    await store().commit(shard, commitAt(0, { vectors, bodies, facts }));
    expect(new Set((await vectorsOf(store(), shard)).keys())).toEqual(new Set(awkwardIds));
    const found = await store().load(shard, awkwardIds);
    expect(plain(found)).toEqual(awkwardIds.map((_, at) => ({ stored: storedOf(at), body: [at] })));
    const head = await store().head(shard);
    expect(head).toMatchObject({ position: 1, fence: 1 });
    for (const [at, id] of awkwardIds.entries()) {
      expect(await store().entity(shard, id), id).toEqual({ ...head, ...found[at] });
    }
    await store().commit(shard, commitAt(1, { removed: awkwardIds }));
    expect(await store().load(shard, awkwardIds)).toEqual(awkwardIds.map(() => nothing));
  });

  it('takes thousands, every other one unknown', async () => {
    const ids = Array.from({ length: 2_501 }, (_, at) => `u${at}`);
    const known = ids.filter((_, at) => at % 2 === 0);
    const vectors = new Map(known.map((id) => [id, storedOf(Number(id.slice(1)))]));
    await store().commit(shard, commitAt(0, { vectors }));
    const found = await store().load(shard, ids);
    expect(found.map(({ stored }) => stored?.vector[0] ?? null)).toEqual(
      ids.map((_, at) => (at % 2 === 0 ? at : null)),
    );
  });
}
