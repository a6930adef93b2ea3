/**
 * Every format of snapshots that was ever released is kept in test/snapshots, as a real system
 * wrote it, and is restored here by the present version.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readSettings } from '@freshet/config';
import { defaultModel } from '@freshet/model';
import { agreementOf } from '@freshet/session';
import { MemoryStore } from '@freshet/store';
import { snapshot, violationsOf } from '@freshet/testkit';
import { describe, expect, it } from 'vitest';
import { restoredShards } from '../packages/cli/src/restore/restored-shards.ts';
import { savedShards, verifySnapshot } from '../packages/cli/src/restore/saved-model.ts';

const folder = fileURLToPath(new URL('snapshots/', import.meta.url));
const settings = readSettings({ SHARDS: '2', FACTOR_COUNT: '4' });
/** Dan has taken back what he said about the owl. */
const ratings = [
  ...['ann fox 1', 'ann owl 3', 'ann elk 5', 'bob fox 2', 'bob owl 4'],
  ...['cy fox 3', 'cy elk 2', 'dan elk 3'],
];

describe('a snapshot that an earlier version wrote', () => {
  it.each(readdirSync(folder))('%s is restored whole, and its model goes on', async (name) => {
    const path = `${folder}${name}`;
    const verified = await verifySnapshot(path, () => {});
    const { about, heads } = verified;
    expect(about.manifest).toEqual(agreementOf(settings).manifest);
    const store = new MemoryStore();
    const shards = savedShards(path, () => {});
    await store.restoreModel(about, restoredShards(verified, shards, 1_000));
    const model = { ...defaultModel, factorCount: settings.FACTOR_COUNT };
    const found = await snapshot(store, settings.SHARDS, model);
    expect(violationsOf(found, new Set(ratings))).toEqual([]);
    expect((await store.agree(agreementOf(settings), { id: 'a' })).kind).toBe('agreed');
    for (const { id, state } of heads) {
      const { position, facts } = await store.takeOver(id, 2_000);
      expect(position).toBe(state.position);
      expect(facts.restorations.length).toBe(id.side === 'item' ? 1 : 0);
      expect(facts.sources).toEqual(state.facts.sources);
    }
  });
});
