/** The contract of factor stores for a whole model: who may join it, and how it is rebuilt. */
import {
  type FactorStore,
  type Manifest,
  ManifestMismatch,
  type Member,
  type ShardId,
  type Tuning,
} from '@freshet/store';
import { beforeEach, expect, it } from 'vitest';
import { bytes, commitAt, shard, storedOf, vectorsOf } from './commit-examples.ts';

const manifest: Manifest = {
  format: 1,
  factorCount: 2,
  loss: 'squared',
  ratingMax: 100,
  shards: 4,
};
const tuning = { RHO: 5, ITEM_COALESCING: true };

export function manifestLaws(store: () => FactorStore): void {
  const agree = (member: Member, changed: { manifest?: object; tuning?: Tuning } = {}) =>
    store().agree(
      {
        manifest: { ...manifest, ...changed.manifest },
        tuning: { ...tuning, ...changed.tuning },
      },
      member,
    );
  const agreed = { kind: 'agreed', born: 7, rebuilt: 0, former: null };

  it('is absent until somebody begins the model', async () => {
    expect(await agree({ id: 'a' })).toEqual({ kind: 'absent' });
    expect(await store().birth()).toBeNull();
    expect(await agree({ id: 'a', born: 7 })).toEqual(agreed);
    expect(await store().birth()).toEqual({ born: 7, rebuilt: 0 });
  });

  it('is written by the first and agreed to by those with the same settings', async () => {
    await agree({ id: 'a', born: 7 });
    expect(await agree({ id: 'b', born: 9 })).toEqual(agreed);
    expect(await agree({ id: 'a' })).toEqual(agreed);
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
    ['shards', 'SHARDS'],
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
    await agree({ id: 'a', born: 7 });
    await store().leave('a');
    const changed = await agree({ id: 'b' }, { tuning: { RHO: 6 } });
    expect(changed).toEqual({ ...agreed, former: tuning });
    expect((await agree({ id: 'a' })).kind).toBe('tuned');
  });

  it('seals every shard that is taken over: those who agreed to it may write', async () => {
    await agree({ id: 'a', born: 0 });
    await store().takeOver(shard, 1);
    expect(await store().commit(shard, commitAt(0))).toEqual({ kind: 'written' });
  });
}

export function rebuildLaws(store: () => FactorStore): void {
  const agreement = { manifest, tuning };
  const everywhere: ShardId[] = [0, 1, 2, 3].flatMap((at) => [
    { side: 'user' as const, shard: at },
    { side: 'item' as const, shard: at },
  ]);
  const ids = Array.from({ length: 1_100 }, (_, at) => `id-${at}`);
  beforeEach(async () => {
    await store().agree(agreement, { id: 'a', born: 2 });
    for (const [at, each] of everywhere.entries()) {
      // One of them is so large that the store deletes it in several steps.
      const some = at === 3 ? ids : ids.slice(0, 2);
      await store().takeOver(each, 5);
      await store().commit(
        each,
        commitAt(0, {
          epoch: 5,
          vectors: new Map(some.map((id) => [id, storedOf(1, 2)])),
          bodies: new Map(some.map((id) => [id, { bytes: bytes(1), isWhole: true }])),
        }),
      );
    }
  });

  it('leaves nothing of any shard of either side, fences included', async () => {
    await store().rebuild(agreement, 17);
    for (const each of everywhere) {
      const { position, fence, commit, sums, outbox } = await store().inspect(each);
      expect([position, fence, commit, sums, outbox]).toEqual([null, null, null, null, null]);
      expect(await vectorsOf(store(), each)).toEqual(new Map());
      const found = await store().load(each, ids);
      expect(found.every(({ stored, body }) => stored === null && body === null)).toBe(true);
    }
  });

  it('is agreed to by those who come, who learn since when', async () => {
    await store().rebuild(agreement, 17);
    const agreed = { kind: 'agreed', born: 17, rebuilt: 17, former: null };
    expect(await store().agree(agreement, { id: 'b' })).toEqual(agreed);
    expect(await store().agree(agreement, { id: 'a', born: 99 })).toEqual(agreed);
    expect(await store().birth()).toEqual({ born: 17, rebuilt: 17 });
    const other = { ...agreement, manifest: { ...manifest, factorCount: 3 } };
    await expect(store().agree(other, { id: 'c' })).rejects.toThrow(ManifestMismatch);
  });

  it('forgets the losses that were accepted; until then the last of each partition is kept', async () => {
    const loss = { at: '2025-01-02T03:04:05Z', kind: 'cut', from: 3, next: 9, topicId: 'Xy3k' };
    expect(await store().acceptedLoss('clicks', 1)).toBeNull();
    await store().acceptLoss('clicks', 1, loss);
    await store().acceptLoss('clicks', 1, { ...loss, from: 9, next: 12 });
    expect(await store().acceptedLoss('clicks', 1)).toEqual({ ...loss, from: 9, next: 12 });
    expect(await store().acceptedLoss('clicks', 2)).toBeNull();
    expect((await store().agree(agreement, { id: 'a' })).kind).toBe('agreed');
    await store().rebuild(agreement, 17);
    expect(await store().acceptedLoss('clicks', 1)).toBeNull();
  });

  it('stops those who write as of before, and lets them begin anew', async () => {
    await store().rebuild(agreement, 17);
    const next = commitAt(1, { epoch: 5 });
    expect(await store().commit(shard, next)).toMatchObject({ kind: 'fenced' });
    await store().takeOver(shard, 6);
    expect(await store().commit(shard, { ...next, epoch: 6, from: 0 })).toEqual({
      kind: 'written',
    });
  });

  it('may be of a model with other settings than before: those hold from then on', async () => {
    const other = { ...agreement, manifest: { ...manifest, factorCount: 3 } };
    await store().rebuild(other, 17);
    await expect(store().agree(agreement, { id: 'a' })).rejects.toThrow(ManifestMismatch);
    expect((await store().agree(other, { id: 'a' })).kind).toBe('agreed');
    await store().takeOver(shard, 1);
    expect(await store().commit(shard, commitAt(0))).toEqual({ kind: 'written' });
  });
}
