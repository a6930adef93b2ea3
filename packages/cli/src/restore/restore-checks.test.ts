import { encodeIntakeMark } from '@freshet/positions';
import { type Manifest, NO_FACTS, NO_TALLY } from '@freshet/store';
import { describe, expect, it } from 'vitest';
import { obstacles } from './restore-checks.ts';

const manifest: Manifest = {
  format: 6,
  factorCount: 4,
  loss: 'squared',
  ratingMax: 100,
  shards: 1,
};

const headOf = (side: 'user' | 'item', position: number) => ({
  id: { side, shard: 0 },
  epoch: 7,
  state: {
    position,
    commit: 'last',
    facts: { ...NO_FACTS, epoch: 7, sequence: 3, topicId: `id-m.${side}-ratings` },
    sums: null,
    outbox: null,
  },
});

const about = { manifest, tuning: {}, born: 2, rebuilt: 0, losses: {}, model: 'm', taken: '' };
const snapshot = { about, heads: [headOf('user', 40), headOf('item', 90)] };

/** The Kafka of the snapshot, a while later. */
function kafka(changed: Record<string, { start: number; end: number }> = {}, life = 0) {
  const ranges: Record<string, { start: number; end: number }> = {
    'm.claims': { start: 5, end: 9 },
    'm.user-ratings': { start: 30, end: 60 },
    'm.item-ratings': { start: 90, end: 120 },
    clicks: { start: 0, end: 200 },
    ...changed,
  };
  const metadata = encodeIntakeMark({ topicId: 'id-clicks', life, sent: NO_TALLY });
  return {
    exists: async () => true,
    topicId: async (topic: string) => `id-${topic}`,
    ranges: async (topic: string) => new Map([[0, ranges[topic] ?? { start: 0, end: 0 }]]),
    committed: async () => new Map([[0, { offset: 150, metadata }]]),
  };
}

const target = { admin: kafka(), model: 'm', manifest, topics: ['clicks'], birth: null };

describe('a model goes on from a snapshot', () => {
  it('where Kafka still holds what follows its positions', async () => {
    expect(await obstacles(snapshot, target)).toEqual([]);
    const lost = { ...target, birth: { born: 8, rebuilt: 0 } };
    expect(await obstacles(snapshot, lost)).toEqual([]);
  });

  it('that was taken after a rebuild, also if the store was lost in between and forgot it', async () => {
    const rebuilt = { ...snapshot, about: { ...about, born: 9, rebuilt: 9 } };
    const lost = { ...snapshot, about: { ...about, born: 12, rebuilt: 0 } };
    for (const each of [rebuilt, lost]) {
      expect(await obstacles(each, { ...target, admin: kafka({}, 9) })).toEqual([]);
    }
  });

  it('not with other settings, each of which is named', async () => {
    const other = { ...target, manifest: { ...manifest, factorCount: 8, shards: 2 } };
    expect(await obstacles(snapshot, other)).toEqual([
      'FACTOR_COUNT of the snapshot is 4, not 8: set it back',
      'SHARDS of the snapshot is 1, not 2: set it back',
    ]);
  });

  it('not where records were deleted that nobody has applied yet', async () => {
    const admin = kafka({ 'm.item-ratings': { start: 91, end: 120 } });
    const found = await obstacles(snapshot, { ...target, admin });
    expect(found).toEqual([
      'm.item-ratings/0: offsets 90 to 90 were deleted before they were read',
    ]);
  });

  it('not with another Kafka, or under another name', async () => {
    const empty = { start: 0, end: 0 };
    const admin = kafka({ 'm.claims': empty, 'm.user-ratings': empty, 'm.item-ratings': empty });
    const elsewhere = await obstacles(snapshot, { ...target, admin });
    expect(elsewhere.join()).toMatch(/m\.claims ends below 7.*user-ratings.*item-ratings/);
    const renamed = await obstacles(snapshot, { ...target, model: 'n' });
    expect(renamed.join()).toMatch(/n\.user-ratings\/0: .*created anew/);
  });

  it('not after a rebuild, whether the store or intake knows of it', async () => {
    const stored = { ...target, birth: { born: 9, rebuilt: 9 } };
    const read = { ...target, admin: kafka({}, 9) };
    for (const each of [stored, read]) {
      expect((await obstacles(snapshot, each)).join()).toMatch(/was rebuilt after the snapshot/);
    }
  });
});
