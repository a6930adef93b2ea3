import { readSettings } from '@freshet/config';
import { type Agreement, MemoryStore, NO_FACTS } from '@freshet/store';
import { openLog } from '@freshet/telemetry';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ModelAgreement } from './model-agreement.ts';
import { agreementOf, modelSettingsOf } from './open-session.ts';

const usual = agreementOf(readSettings({ SHARDS: '2' }));
const log = openLog('agreement', 'silent');

function world() {
  const store = new MemoryStore();
  const claims = { end: 0 };
  const admin = { ends: async () => new Map([[0, claims.end]]) };
  const join = (agreement: Agreement = usual) =>
    ModelAgreement.join({ store, admin, model: 'm', agreement, log });
  return { store, claims, join };
}

const tuned = (changes: Record<string, number>): Agreement => ({
  ...usual,
  tuning: { ...usual.tuning, ...changes },
});

afterEach(() => vi.useRealTimers());

describe('joining a model', () => {
  it('begins one that never was, at once', async () => {
    const { join } = world();
    expect((await join()).born).toBe(0);
  });

  it('waits for those who run to restore one that was lost, and begins it anew if nobody does', async () => {
    vi.useFakeTimers();
    const { claims, join } = world();
    claims.end = 17;
    const joining = join();
    await vi.advanceTimersByTimeAsync(5_000);
    await vi.advanceTimersByTimeAsync(3_000);
    expect((await joining).born).toBe(17);
  });

  it('is refused beside others with another tuning, naming the setting, once they surely run', async () => {
    vi.useFakeTimers();
    const { join } = world();
    const first = await join();
    const keep = setInterval(() => void first.renew(), 1_000);
    const refused = expect(join(tuned({ RHO: 6 }))).rejects.toThrow(/RHO is 6, it was 5/);
    await vi.advanceTimersByTimeAsync(15_000);
    await refused;
    clearInterval(keep);
  });

  it('outlasts the sign of life of one that was killed', async () => {
    vi.useFakeTimers();
    const { join } = world();
    await join();
    const joining = join(tuned({ RHO: 6 }));
    await vi.advanceTimersByTimeAsync(12_000);
    expect((await joining).born).toBe(0);
  });

  it('is free at once after one has left, even if that one is told to renew its sign of life', async () => {
    const { join } = world();
    const first = await join();
    await first.close();
    await first.renew();
    expect((await join(tuned({ RHO: 6 }))).born).toBe(0);
  });

  it('covers every setting that changes what is learnt', () => {
    const settings = readSettings({});
    const learnt = modelSettingsOf(settings);
    const covered = Object.values({ ...usual.manifest, ...usual.tuning });
    for (const name of ['rho', 'userShrinkage', 'itemShrinkage', 'recencyWeight'] as const) {
      expect(covered, name).toContain(learnt[name]);
    }
  });
});

describe('a store that lost the model under a running service', () => {
  it('gets it back with the settings that run, in a new life, and everybody is told once', async () => {
    const { store, claims, join } = world();
    const [one, two] = [await join(), await join()];
    const told: string[] = [];
    one.onLost(() => void told.push('one'));
    two.onLost(() => void told.push('two'));
    claims.end = 9;
    store.wipe();
    await one.renew();
    await two.renew();
    await one.renew();
    expect(told).toEqual(['one', 'two']);
    expect([one.born, two.born]).toEqual([9, 9]);
  });

  it('goes on in the same life where only the manifest was lost', async () => {
    const { store, claims, join } = world();
    claims.end = 0;
    const one = await join();
    const told: string[] = [];
    one.onLost(() => void told.push('one'));
    const id = { side: 'user', shard: 1 } as const;
    claims.end = 5;
    store.wipe();
    await store.takeOver(id, 3);
    const empty = { vectors: new Map(), removed: [], bodies: new Map() };
    const bytes = { sums: new Uint8Array(), outbox: new Uint8Array() };
    const place = { epoch: 3, id: 'c', from: 0, next: 1, facts: { ...NO_FACTS, life: 0 } };
    await store.commit(id, { ...empty, ...bytes, ...place });
    await one.renew();
    expect(told).toEqual([]);
    expect(one.born).toBe(0);
  });
});

describe('a model that a person has dropped to rebuild it', () => {
  it('is begun anew by everybody who runs, each told once, and not taken for a loss', async () => {
    const { store, claims, join } = world();
    const one = await join();
    const told: [number, number][] = [];
    one.onLost(() => void told.push([one.born, one.rebuilt]));
    claims.end = 9;
    await store.rebuild(usual, 9);
    await one.renew();
    await one.renew();
    expect(told).toEqual([[9, 9]]);
    const late = await join();
    expect([late.born, late.rebuilt]).toEqual([9, 9]);
  });

  it('keeps the epoch of the rebuild only as long as the store does', async () => {
    const { store, claims, join } = world();
    const one = await join();
    await store.rebuild(usual, 9);
    await one.renew();
    claims.end = 12;
    store.wipe();
    await one.renew();
    expect([one.born, one.rebuilt]).toEqual([12, 0]);
  });
});
