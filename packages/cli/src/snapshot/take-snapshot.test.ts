import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ShardSums } from '@freshet/model';
import { type Manifest, MemoryStore, NO_FACTS } from '@freshet/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifySnapshot } from '../restore/saved-model.ts';
import { takeSnapshot } from './take-snapshot.ts';

const manifest: Manifest = {
  format: 6,
  factorCount: 2,
  loss: 'squared',
  ratingMax: 5,
  shards: 1,
};
const saved = { manifest, tuning: {}, born: 0, rebuilt: 0, losses: {} };
const shard = { side: 'item', shard: 0 } as const;

let folder: string;
let store: MemoryStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'freshet-snapshot-'));
  store = new MemoryStore();
  await store.agree({ manifest, tuning: {} }, { id: 'a', born: 0 });
  await store.takeOver(shard, 1);
  const stored = { vector: Float32Array.of(1, 2), figures: Float64Array.of(1, 2) };
  await store.commit(shard, {
    ...{ epoch: 1, id: 'one', from: 0, next: 1, facts: NO_FACTS },
    ...{ vectors: new Map([['i', stored]]), removed: [], bodies: new Map() },
    ...{ sums: ShardSums.zero('item', 2).toBytes(), outbox: new Uint8Array() },
  });
});
afterEach(() => rmSync(folder, { recursive: true }));

function take(name: string, signal = new AbortController().signal, copied = store) {
  const path = join(folder, name);
  return takeSnapshot({ store: copied, model: 'm', saved, path, onProgress: () => {}, signal });
}

describe('a snapshot', () => {
  it('that is interrupted leaves no file, and no copy in the store', async () => {
    const reason = new Error('interrupted');
    await expect(take('a', AbortSignal.abort(reason))).rejects.toThrow(reason);
    expect(readdirSync(folder)).toEqual([]);
    await (await store.copyShard(shard)).close();
  });

  it('leaves the one before if the model is lost or begun anew between two shards', async () => {
    await take('a');
    const before = readFileSync(join(folder, 'a'));
    const agreement = { manifest, tuning: {} };
    for (const change of [() => store.wipe(), () => void store.rebuild(agreement, 5)]) {
      const options = { store, model: 'm', saved, path: join(folder, 'a'), onProgress: change };
      const taking = takeSnapshot({ ...options, signal: new AbortController().signal });
      await expect(taking).rejects.toThrow(/lost, rebuilt or restored meanwhile/);
    }
    expect(readFileSync(join(folder, 'a'))).toEqual(before);
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it('is whole, although another one is written to the same name at the same time', async () => {
    const twin = new MemoryStore();
    await twin.agree({ manifest, tuning: {} }, { id: 'a', born: 0 });
    await Promise.all([take('a'), take('a', undefined, twin)]);
    expect((await verifySnapshot(join(folder, 'a'), () => {})).heads.length).toBe(2);
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it('removes what one that was killed left long ago, and nothing else', async () => {
    for (const name of ['a.0a1b2c3d.part', 'a.part', 'b.part', 'a.b.part', 'a.00000000.part']) {
      writeFileSync(join(folder, name), 'cut off');
      if (name !== 'a.00000000.part') utimesSync(join(folder, name), 1, 1);
    }
    await take('a');
    expect(readdirSync(folder).sort()).toEqual(['a', 'a.00000000.part', 'a.b.part', 'b.part']);
  });

  it('is not begun where something stands that cannot be replaced by a file', async () => {
    await expect(take('.')).rejects.toThrow(/is not a regular file/);
    await expect(take('nowhere/a')).rejects.toThrow(/ENOENT/);
    expect(readdirSync(folder)).toEqual([]);
  });
});
