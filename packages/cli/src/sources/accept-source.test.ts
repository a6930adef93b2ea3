import { MemoryStore, NO_FACTS } from '@freshet/store';
import { describe, expect, it } from 'vitest';
import { acceptSource, factsBehind } from './accept-source.ts';
import type { SourceState } from './source-report.ts';

const at = new Date('2025-01-02T03:04:05Z');

const recreated: SourceState = {
  reader: 'user',
  topic: 'm.user-ratings',
  partition: 1,
  topicId: 'new',
  from: 40,
  position: 40,
  start: 3,
  end: 9,
  lag: 6,
  state: 'recreated',
  next: 3,
  accepted: [],
};

const facts = {
  ...NO_FACTS,
  epoch: 4,
  sequence: 9,
  life: 2,
  topicId: 'old',
  sent: { 0: { count: 5, sum: 6 } },
};

function acceptingOn(store: MemoryStore): Parameters<typeof acceptSource>[0] {
  let claims = 0;
  const publisher = { append: async () => claims++ };
  return { store, publisher, model: 'm', factorCount: 2, now: () => at };
}

async function shardAt(position: number): Promise<MemoryStore> {
  const store = new MemoryStore();
  const id = { side: 'user', shard: 1 } as const;
  await store.takeOver(id, 7);
  const nothing = { vectors: new Map(), removed: [], bodies: new Map() };
  const [sums, outbox] = [new Uint8Array(8), new Uint8Array(3)];
  const commit = { epoch: 7, id: 'a', from: 0, next: position, sums, outbox, facts };
  await store.commit(id, { ...commit, ...nothing });
  return store;
}

describe('a loss that is accepted', () => {
  it('moves a shard behind it, above the fence that was, and is remembered there', async () => {
    const store = await shardAt(40);
    await acceptSource(acceptingOn(store), recreated);
    const state = await store.inspect({ side: 'user', shard: 1 });
    expect(state).toMatchObject({ position: 3, fence: 8 });
    expect([state.sums?.length, state.outbox?.length]).toEqual([8, 3]);
    const acceptance = { at: at.toISOString(), kind: 'recreated', from: 40, next: 3 };
    expect(state.facts).toMatchObject({ sequence: 9, topicId: 'new', accepted: [acceptance] });
  });

  it('is not accepted of a shard that went on meanwhile', async () => {
    const store = await shardAt(41);
    await expect(acceptSource(acceptingOn(store), recreated)).rejects.toThrow(
      /run freshet sources/,
    );
  });

  it('of a source of intake lies in the store, for intake to find', async () => {
    const store = new MemoryStore();
    const clicks = { ...recreated, reader: 'intake', topic: 'clicks' } as const;
    await acceptSource(acceptingOn(store), clicks);
    const loss = { at: at.toISOString(), kind: 'recreated', from: 40, next: 3, topicId: 'new' };
    expect(await store.acceptedLoss('clicks', 1)).toEqual(loss);
  });

  it('is nothing where there is no topic, or nothing is lost', async () => {
    const store = new MemoryStore();
    for (const state of ['ok', 'absent'] as const) {
      await acceptSource(acceptingOn(store), { ...recreated, reader: 'intake', state });
    }
    expect(await store.acceptedLoss(recreated.topic, 1)).toBeNull();
  });
});

describe('the facts behind a loss', () => {
  it('begin a new life of a user shard whose topic counts from 0 again', () => {
    expect(factsBehind(facts, recreated, { epoch: 12, at })).toMatchObject({ life: 12, sent: {} });
  });

  it('keep the life of a shard whose log was cut, and of every item shard', () => {
    const cut = { ...recreated, state: 'cut' } as const;
    const item = { ...recreated, reader: 'item' } as const;
    for (const source of [cut, item]) {
      const { life, sent } = factsBehind(facts, source, { epoch: 12, at });
      expect([life, sent]).toEqual([2, facts.sent]);
    }
  });

  it('remember the last twenty', () => {
    let now = factsBehind(facts, recreated, { epoch: 12, at });
    for (let more = 0; more < 30; more++) now = factsBehind(now, recreated, { epoch: 12, at });
    expect(now.accepted).toHaveLength(20);
  });
});
