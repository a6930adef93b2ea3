/** What every factor store promises: run by the memory store, and by Redis on a real server. */
import {
  type Commit,
  type FactorStore,
  type Manifest,
  ManifestMismatch,
  type Member,
  type ShardId,
  StaleEpoch,
  type Tuning,
} from '@freshet/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const shard: ShardId = { side: 'user', shard: 3 };
const manifest: Manifest = {
  format: 1,
  factorCount: 2,
  loss: 'squared',
  ratingMax: 100,
  partitions: 4,
};
const awkwardIds = ['a b', 'a:b', '{u:3}', '}{', '🎬', '*', '\0', '__proto__', 'x'.repeat(256)];
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

/** A batch that moves the position by one and changes nothing else, unless told. */
function commitAt(from: number, changes: Partial<Commit> = {}): Commit {
  return {
    epoch: 1,
    id: `commit-${from}`,
    from,
    next: from + 1,
    vectors: new Map(),
    removed: [],
    rowAppends: new Map(),
    gram: bytes(from),
    outbox: bytes(),
    facts: {},
    ...changes,
  };
}

async function vectorsOf(store: FactorStore, of: ShardId): Promise<Map<string, Float32Array>> {
  const found = new Map<string, Float32Array>();
  for await (const [id, { vector }] of store.vectors(of)) found.set(id, vector);
  return found;
}

/** Everything a shard holds, in a form that compares. */
async function contentOf(store: FactorStore, of: ShardId, ids: readonly string[]) {
  const { position, gram, outbox, facts } = await store.inspect(of);
  const rows = await store.rows(of, ids);
  const plain = (part: Uint8Array | null) => part && Array.from(part);
  const vectors = Object.fromEntries(await vectorsOf(store, of));
  return {
    position,
    gram: plain(gram),
    outbox: plain(outbox),
    facts,
    rows: rows.map(plain),
    vectors,
  };
}

/** `open` gives a store without any data; it is closed after each test. */
export function factorStoreContract(name: string, open: () => Promise<FactorStore>): void {
  let store: FactorStore;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());

  describe(`${name}: taking a shard over`, () => takeOverLaws(() => store));
  describe(`${name}: a commit`, () => commitLaws(() => store));
  describe(`${name}: what was committed`, () => contentLaws(() => store));
  describe(`${name}: the manifest`, () => manifestLaws(() => store));
}

function takeOverLaws(store: () => FactorStore): void {
  it('finds nothing in a shard that nobody ever wrote', async () => {
    const empty = { position: null, gram: null, outbox: null };
    expect(await store().inspect(shard)).toEqual({ ...empty, facts: {} });
    expect(await store().takeOver(shard, 1)).toMatchObject(empty);
    expect(await vectorsOf(store(), shard)).toEqual(new Map());
    expect(await store().rows(shard, ['u'])).toEqual([null]);
    const nobody = { position: null, vector: null, row: null };
    expect(await store().entity(shard, 'u')).toEqual(nobody);
  });

  it('hands the last commit to the next writer: position, gram, outbox and facts', async () => {
    await store().takeOver(shard, 1);
    const facts = { sequence: '7', 'source:2': '91' };
    await store().commit(shard, commitAt(0, { next: 40, outbox: bytes(5, 0, 255), facts }));
    const state = await store().takeOver(shard, 2);
    expect(state.position).toBe(40);
    expect(Array.from(state.gram ?? [])).toEqual([0]);
    expect(Array.from(state.outbox ?? [])).toEqual([5, 0, 255]);
    expect(state.facts).toMatchObject(facts);
  });

  it('is refused to an epoch that is not above the fence, which stays', async () => {
    await store().takeOver(shard, 5);
    for (const epoch of [5, 4, 1]) {
      await expect(store().takeOver(shard, epoch)).rejects.toThrow(StaleEpoch);
    }
    expect(await store().commit(shard, commitAt(0, { epoch: 5 }))).toEqual({ kind: 'written' });
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
    vectors: new Map([['u', { vector: Float32Array.of(1, 2), trend: 0.5 }]]),
    rowAppends: new Map([['u', bytes(1)]]),
    facts: { ratings: '1' },
  });
  /** Would change every part of the shard if it were written. */
  const second = commitAt(1, {
    vectors: new Map([['new', { vector: Float32Array.of(8, 9), trend: 1 }]]),
    removed: ['u'],
    rowAppends: new Map([['new', bytes(7)]]),
    outbox: bytes(9),
    facts: { ratings: '2' },
  });
  beforeEach(async () => {
    await store().takeOver(shard, 1);
    expect(await store().commit(shard, first)).toEqual({ kind: 'written' });
  });

  async function expectUnchangedBy(commit: Commit, verdict: object): Promise<void> {
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
    // Even one that was written: its writer must not go on from there.
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

  it('replaces gram, outbox and the facts it names, and keeps the facts it does not', async () => {
    await store().commit(shard, { ...second, facts: { sequence: '2' } });
    const { gram, outbox, facts, position } = await store().inspect(shard);
    expect(await store().facts(shard)).toEqual(facts);
    expect([Array.from(gram ?? []), Array.from(outbox ?? []), position]).toEqual([[1], [9], 2]);
    expect(facts).toMatchObject({ ratings: '1', sequence: '2' });
  });
}

function contentLaws(store: () => FactorStore): void {
  beforeEach(() => store().takeOver(shard, 1));

  it('comes back bit for bit: −0, denormals, the largest number', async () => {
    const vector = Float32Array.of(0.1, -0, 1e-45, -1e-45, 3.4028234663852886e38, 0);
    const trend = 5e-324;
    await store().commit(shard, commitAt(0, { vectors: new Map([['u', { vector, trend }]]) }));
    const bitsOf = (numbers: Float32Array) => Array.from(new Uint32Array(numbers.slice().buffer));
    for await (const [id, stored] of store().vectors(shard)) {
      expect([id, stored.trend]).toEqual(['u', trend]);
      expect(bitsOf(stored.vector)).toEqual(bitsOf(vector));
    }
    const { vector: read } = await store().entity(shard, 'u');
    expect(bitsOf(read ?? new Float32Array())).toEqual(bitsOf(vector));
  });

  it('does not change when the writer goes on using its arrays', async () => {
    const vector = Float32Array.of(1, 2);
    await store().commit(
      shard,
      commitAt(0, { vectors: new Map([['u', { vector, trend: 0 }]]), gram: bytes(1) }),
    );
    vector.fill(9);
    expect(await vectorsOf(store(), shard)).toEqual(new Map([['u', Float32Array.of(1, 2)]]));
  });

  it('may be an empty vector: a row kept for its tombstones alone', async () => {
    const gone = { vector: new Float32Array(), trend: 0 };
    await store().commit(shard, commitAt(0, { vectors: new Map([['u', gone]]) }));
    expect((await store().entity(shard, 'u')).vector).toEqual(new Float32Array());
  });

  it('grows rows by appending, in the order of commits', async () => {
    for (let at = 0; at < 3; at++) {
      await store().commit(shard, commitAt(at, { rowAppends: new Map([['u', bytes(at, 255)]]) }));
    }
    const [row, none] = await store().rows(shard, ['u', 'nobody']);
    expect(Array.from(row ?? [])).toEqual([0, 255, 1, 255, 2, 255]);
    expect(none).toBeNull();
    expect(await store().rows(shard, [])).toEqual([]);
  });

  it('loses vector and row of what is removed; added again in one commit, it starts anew', async () => {
    const entry = (value: number) => ({
      vectors: new Map(['u', 'v'].map((id) => [id, { vector: Float32Array.of(value), trend: 0 }])),
      rowAppends: new Map(['u', 'v'].map((id) => [id, bytes(value)])),
    });
    await store().commit(shard, commitAt(0, entry(1)));
    const again = entry(2);
    again.vectors.delete('v');
    again.rowAppends.delete('v');
    await store().commit(shard, commitAt(1, { ...again, removed: ['u', 'v', 'nobody'] }));
    expect(await vectorsOf(store(), shard)).toEqual(new Map([['u', Float32Array.of(2)]]));
    const rows = await store().rows(shard, ['u', 'v']);
    expect(rows.map((row) => row && Array.from(row))).toEqual([[2], null]);
  });

  it('is found under any id', async () => {
    const vectors = new Map(
      awkwardIds.map((id, at) => [id, { vector: Float32Array.of(at), trend: at }] as const),
    );
    const rowAppends = new Map(awkwardIds.map((id, at) => [id, bytes(at)] as const));
    await store().commit(shard, commitAt(0, { vectors, rowAppends }));
    expect(new Set((await vectorsOf(store(), shard)).keys())).toEqual(new Set(awkwardIds));
    for (const [at, id] of awkwardIds.entries()) {
      const { vector, row, position } = await store().entity(shard, id);
      expect([Array.from(vector ?? []), Array.from(row ?? []), position], id).toEqual([
        [at],
        [at],
        1,
      ]);
    }
    await store().commit(shard, commitAt(1, { removed: awkwardIds }));
    expect(await store().rows(shard, awkwardIds)).toEqual(awkwardIds.map(() => null));
  });

  it('may be thousands of vectors and rows at once', async () => {
    const ids = Array.from({ length: 3_000 }, (_, at) => `user-${at}`);
    const vectors = new Map(ids.map((id, at) => [id, { vector: Float32Array.of(at), trend: 0 }]));
    const rowAppends = new Map(ids.map((id) => [id, bytes(1)]));
    const verdict = await store().commit(shard, commitAt(0, { vectors, rowAppends }));
    expect(verdict).toEqual({ kind: 'written' });
    expect((await vectorsOf(store(), shard)).size).toBe(ids.length);
    expect((await store().rows(shard, ids)).every((row) => row?.length === 1)).toBe(true);
  });

  it('stays in its shard and its side', async () => {
    const vectors = new Map([['u', { vector: Float32Array.of(1), trend: 0 }]]);
    await store().commit(shard, commitAt(0, { vectors }));
    for (const other of [
      { side: 'item', shard: 3 } as const,
      { side: 'user', shard: 30 } as const,
    ]) {
      expect(await vectorsOf(store(), other)).toEqual(new Map());
      expect((await store().inspect(other)).position).toBeNull();
    }
  });
}

function manifestLaws(store: () => FactorStore): void {
  const tuning = { RHO: 5, ITEM_COALESCING: true };
  const agree = (member: Member, changed: { manifest?: object; tuning?: Tuning } = {}) =>
    store().agree(
      {
        manifest: { ...manifest, ...changed.manifest },
        tuning: { ...tuning, ...changed.tuning },
      },
      member,
    );

  it('is absent until somebody begins the model', async () => {
    expect(await agree({ id: 'a' })).toEqual({ kind: 'absent' });
    expect(await store().birth()).toBeNull();
    expect(await agree({ id: 'a', born: 7 })).toEqual({ kind: 'agreed', born: 7, former: null });
    expect(await store().birth()).toBe(7);
  });

  it('is written by the first and agreed to by those with the same settings', async () => {
    await agree({ id: 'a', born: 7 });
    expect(await agree({ id: 'b', born: 9 })).toEqual({ kind: 'agreed', born: 7, former: null });
    expect(await agree({ id: 'a' })).toEqual({ kind: 'agreed', born: 7, former: null });
  });

  it('refuses others, naming every setting that differs, both values and what to do', async () => {
    await agree({ id: 'a', born: 0 });
    const refused = agree({ id: 'b' }, { manifest: { factorCount: 64, loss: 'absolute' } });
    await expect(refused).rejects.toThrow(ManifestMismatch);
    await expect(refused).rejects.toThrow(
      /FACTOR_COUNT is 64, the store has 2; LOSS is absolute, the store has squared.*MODEL/,
    );
    expect((await agree({ id: 'a' })).kind).toBe('agreed');
  });

  it.each([
    ['format', 'store format'],
    ['ratingMax', 'RATING_MAX'],
    ['partitions', 'PARTITIONS'],
  ] as const)('watches over %s', async (field, named) => {
    await agree({ id: 'a', born: 0 });
    await expect(agree({ id: 'b' }, { manifest: { [field]: 7 } })).rejects.toThrow(named);
  });

  it('lets nobody run beside others with another tuning, and says which they have', async () => {
    await agree({ id: 'a', born: 0 });
    const refused = await agree({ id: 'b' }, { tuning: { RHO: 6 } });
    expect(refused).toEqual({ kind: 'tuned', tuning, others: 1 });
  });

  it('takes another tuning once the others have left, and tells the former one', async () => {
    await agree({ id: 'a', born: 0 });
    await store().leave('a');
    const changed = await agree({ id: 'b' }, { tuning: { RHO: 6 } });
    expect(changed).toEqual({ kind: 'agreed', born: 0, former: tuning });
    expect((await agree({ id: 'a' })).kind).toBe('tuned');
  });

  it('seals every shard that is taken over: under another manifest nobody touches it', async () => {
    await agree({ id: 'a', born: 0 });
    await store().takeOver(shard, 1);
    expect((await store().inspect(shard)).facts.seal).toMatch(/^[0-9a-f]{16}$/);
    expect(await store().commit(shard, commitAt(0))).toEqual({ kind: 'written' });
  });
}
