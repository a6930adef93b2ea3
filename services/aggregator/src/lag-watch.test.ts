import type { ShardId } from '@freshet/store';
import { metrics, openLog } from '@freshet/telemetry';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LagWatch } from './lag-watch.ts';

const log = openLog('test', 'silent');
const curve = {
  format: 1,
  source: 'by hand',
  points: [
    { lag: 0, loss: 0, lossCold: 0 },
    { lag: 10, loss: 0.1, lossCold: 0.3 },
  ],
} as const;

/** Two partitions whose every figure a test sets. */
class Scene {
  ends = [0, 0];
  positions: (number | null)[] = [null, null];
  facts: Record<'user' | 'item', Record<string, string>[]> = { user: [{}, {}], item: [{}, {}] };
  away: Promise<never> | undefined;
  now = 1_000;
  readonly watch: LagWatch;

  constructor() {
    this.watch = new LagWatch({
      admin: { ends: () => this.away ?? Promise.resolve(new Map(this.ends.entries())) },
      store: { facts: async (id) => this.#factsOf(id) },
      model: 'm',
      partitions: 2,
      curve,
      log,
      now: () => this.now,
    });
  }

  #factsOf({ side, shard }: ShardId): Record<string, string> {
    const facts = this.facts[side][shard] ?? {};
    const position = side === 'user' ? (this.positions[shard] ?? null) : null;
    return position === null ? facts : { ...facts, position: String(position) };
  }
}

async function shown(metric: keyof typeof metrics): Promise<Record<string, number>> {
  const { values } = await metrics[metric].get();
  return Object.fromEntries(
    values.map(({ labels, value }) => [Object.values(labels).join(' '), value]),
  );
}

let scene: Scene | undefined;
const open = (): Scene => {
  scene = new Scene();
  return scene;
};
afterEach(async () => {
  if (scene) scene.away = undefined;
  await scene?.watch.close();
});

describe('the lag watch', () => {
  it('has every series from the start, not measured yet', async () => {
    open();
    expect(await shown('lag')).toEqual({
      'user_applied 0': Number.NaN,
      'user_applied 1': Number.NaN,
      'item_applied 0': Number.NaN,
      'item_applied 1': Number.NaN,
    });
    expect(await shown('expectedLoss')).toEqual({ all: Number.NaN, cold: Number.NaN });
  });

  it('counts what is produced and not applied by user shards, by partition and in all', async () => {
    const { watch } = Object.assign(open(), { ends: [12, 5], positions: [4, null] });
    await watch.measure();
    expect(await shown('lag')).toMatchObject({ 'user_applied 0': 8, 'user_applied 1': 5 });
    expect((await shown('lagAll')).user_applied).toBe(13);
  });

  it('counts for item shards what was sent to each and not applied, beside what is not decided', async () => {
    const there = open();
    there.ends = [12, 5];
    there.positions = [12, 3];
    there.facts.user = [
      { 'sent:0': '7:111', 'sent:1': '5:222' },
      { 'sent:0': '2:333', 'sent:1': '1:444' },
    ];
    there.facts.item = [{ applied: '6:1' }, { applied: '6:2' }];
    await there.watch.measure();
    expect(await shown('lag')).toMatchObject({ 'item_applied 0': 3, 'item_applied 1': 0 });
    expect(await shown('lagAll')).toEqual({ user_applied: 2, item_applied: 5 });
  });

  it('tells since when the oldest has waited', async () => {
    const there = open();
    there.ends = [10, 10];
    there.positions = [10, 10];
    await there.watch.measure();
    expect((await shown('lagAge')).user_applied).toBe(0);
    there.now = 3_000;
    there.ends = [14, 10];
    await there.watch.measure();
    there.now = 4_500;
    there.ends = [20, 11];
    await there.watch.measure();
    expect(await shown('lagAge')).toEqual({ user_applied: 1.5, item_applied: 1.5 });
    there.positions = [14, 11];
    there.now = 5_000;
    await there.watch.measure();
    expect((await shown('lagAge')).user_applied).toBe(0.5);
  });

  it('turns the lag into the loss that the curve expects', async () => {
    const { watch } = Object.assign(open(), { ends: [6, 4], positions: [null, null] });
    await watch.measure();
    const loss = await shown('expectedLoss');
    expect(loss.all).toBeCloseTo(0.1, 12);
    expect(loss.cold).toBeCloseTo(0.3, 12);
  });

  it('shows nothing rather than something old while Kafka is away, and the truth again after', async () => {
    const there = Object.assign(open(), { ends: [6, 4] });
    await there.watch.measure();
    there.away = Promise.reject(new Error('no broker'));
    await there.watch.measure();
    expect(Object.values(await shown('lag')).every(Number.isNaN)).toBe(true);
    expect((await shown('lagAll')).user_applied).toBeNaN();
    expect((await shown('expectedLoss')).all).toBeNaN();
    there.away = undefined;
    await there.watch.measure();
    expect((await shown('lagAll')).user_applied).toBe(10);
  });

  it('shows what was produced before the scrape, even if it was looking already', async () => {
    const there = open();
    const earlier = there.watch.measure();
    there.ends = [6, 4];
    await there.watch.measure();
    await earlier;
    expect((await shown('lagAll')).user_applied).toBe(10);
  });

  it('answers even if Kafka never does', async () => {
    vi.useFakeTimers();
    try {
      const there = open();
      there.away = new Promise(() => {});
      const measuring = there.watch.measure();
      await vi.advanceTimersByTimeAsync(2_000);
      await measuring;
      expect((await shown('lagAll')).item_applied).toBeNaN();
      const closing = there.watch.close();
      await vi.advanceTimersByTimeAsync(2_000);
      await closing;
      scene = undefined;
    } finally {
      vi.useRealTimers();
    }
  });
});
