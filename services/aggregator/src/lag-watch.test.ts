import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeIntakeMark } from '@freshet/positions';
import { defaultLagCurve } from '@freshet/quality';
import { NO_FACTS, NO_MARK, type ShardFacts, type ShardId, type SourceMark } from '@freshet/store';
import { metrics, openLog } from '@freshet/telemetry';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { LagWatch, readLagCurve } from './lag-watch.ts';

const log = openLog('test', 'silent');
const curve = {
  format: 1,
  source: 'by hand',
  points: [
    { lag: 0, loss: 0, lossCold: 0 },
    { lag: 10, loss: 0.1, lossCold: 0.3 },
  ],
} as const;

const LIFE = 3;
const TOPIC_ID = 'id-of-ratings';

/** A topic of two partitions, and two shards of each side. The tests set every figure. */
class Scene {
  start = 0;
  ends = [0, 0];
  /** The position of intake in each partition, and how many ratings it has sent from there. */
  intake: ({ position: number; sent: number; life?: number } | null)[] = [null, null];
  facts: Record<'user' | 'item', Partial<ShardFacts>[]> = { user: [{}, {}], item: [{}, {}] };
  topics = ['ratings'];
  away: Promise<never> | undefined;
  now = 1_000;
  readonly watch: LagWatch;

  constructor() {
    this.watch = new LagWatch({
      admin: {
        exists: async (topic) => this.topics.includes(topic),
        topicId: async () => TOPIC_ID,
        ranges: () => this.away ?? Promise.resolve(this.#ranges()),
        committed: async () => this.#committed(),
      },
      store: { head: async (id) => this.#headOf(id) },
      model: 'm',
      topics: ['ratings'],
      shards: 2,
      curve,
      log,
      now: () => this.now,
    });
  }

  #ranges() {
    return new Map(this.ends.map((end, partition) => [partition, { start: this.start, end }]));
  }

  #committed() {
    const known = this.intake.flatMap((at, partition) => {
      if (at === null) return [];
      const { position: offset, sent, life = LIFE } = at;
      const mark = { topicId: TOPIC_ID, life, sent: { count: sent, sum: 0 } };
      return [[partition, { offset, metadata: encodeIntakeMark(mark) }] as const];
    });
    return new Map(known);
  }

  #headOf({ side, shard }: ShardId) {
    const facts = { ...NO_FACTS, ...this.facts[side][shard] };
    return { position: null, fence: null, commit: null, facts };
  }
}

/** The facts of a shard that has applied so many ratings of each source, all in one life. */
function applied(counts: Record<string, number>, life = LIFE): Partial<ShardFacts> {
  const marks = Object.entries(counts).map(([source, count]): [string, SourceMark] => [
    source,
    { ...NO_MARK, life, applied: { count, sum: 0 } },
  ]);
  return { sources: Object.fromEntries(marks) };
}

function sent(...counts: number[]): Partial<ShardFacts> {
  const tallies = counts.map((count, shard) => [String(shard), { count, sum: 0 }]);
  return { life: LIFE, sent: Object.fromEntries(tallies) };
}

const FIRST = `ratings@${TOPIC_ID}:0`;
const SECOND = `ratings@${TOPIC_ID}:1`;

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
  it('has every series that it can know of from the start, not measured yet', async () => {
    open();
    expect(await shown('lag')).toEqual({
      'item_applied 0': Number.NaN,
      'item_applied 1': Number.NaN,
    });
    expect(await shown('lagAll')).toEqual({
      intake: Number.NaN,
      user_applied: Number.NaN,
      item_applied: Number.NaN,
    });
    expect(await shown('expectedLoss')).toEqual({ all: Number.NaN, cold: Number.NaN });
  });

  it('counts what intake has not read, from the beginning where it has never been', async () => {
    const there = open();
    there.start = 2;
    there.ends = [12, 5];
    there.intake = [{ position: 8, sent: 8 }, null];
    there.facts.user = [applied({ [FIRST]: 8 }), {}];
    await there.watch.measure();
    expect(await shown('lag')).toMatchObject({ 'intake ratings:0': 4, 'intake ratings:1': 3 });
    expect(await shown('lagAll')).toMatchObject({ intake: 7, user_applied: 7 });
  });

  it('counts for user shards what was sent to them and not applied, beside what is not read', async () => {
    const there = open();
    there.ends = [12, 5];
    there.intake = [
      { position: 10, sent: 9 },
      { position: 5, sent: 5 },
    ];
    there.facts.user = [applied({ [FIRST]: 3, [SECOND]: 1 }), applied({ [FIRST]: 2, [SECOND]: 4 })];
    await there.watch.measure();
    expect(await shown('lag')).toMatchObject({
      'user_applied ratings:0': 2 + 9 - 5,
      'user_applied ratings:1': 0,
    });
    expect((await shown('lagAll')).user_applied).toBe(6);
  });

  it('does not count what is applied already though intake has not committed it', async () => {
    const there = open();
    there.ends = [12, 5];
    there.intake = [
      { position: 4, sent: 4 },
      { position: 4, sent: 4 },
    ];
    there.facts.user = [applied({ [FIRST]: 12, [SECOND]: 2 }), {}];
    await there.watch.measure();
    expect(await shown('lag')).toMatchObject({
      'intake ratings:0': 8,
      'user_applied ratings:0': 0,
      'user_applied ratings:1': 3,
    });
  });

  it('counts nothing as applied that was sent in an earlier life', async () => {
    const there = open();
    there.ends = [12, 0];
    there.intake = [{ position: 7, sent: 7, life: LIFE + 1 }, null];
    there.facts.user = [{ ...applied({ [FIRST]: 12 }), ...sent(5, 0) }, {}];
    there.facts.item = [applied({ 0: 4 }, LIFE - 1), {}];
    await there.watch.measure();
    expect(await shown('lagAll')).toMatchObject({ user_applied: 12, item_applied: 17 });
  });

  it('counts for item shards what was sent to each and not applied, beside what is not decided', async () => {
    const there = open();
    there.ends = [12, 5];
    there.intake = [
      { position: 12, sent: 12 },
      { position: 3, sent: 3 },
    ];
    there.facts.user = [
      { ...applied({ [FIRST]: 12 }), ...sent(7, 5) },
      { ...applied({ [SECOND]: 3 }), ...sent(2, 1) },
    ];
    // Shard 1 has applied more than was known to be sent. That must not hide the lag of shard 0.
    there.facts.item = [applied({ 0: 6 }), applied({ 0: 6, 1: 1 })];
    await there.watch.measure();
    expect(await shown('lag')).toMatchObject({ 'item_applied 0': 3, 'item_applied 1': 0 });
    expect(await shown('lagAll')).toEqual({ intake: 2, user_applied: 2, item_applied: 5 });
  });

  it('tells since when the oldest has waited', async () => {
    const there = open();
    const through = (...counts: number[]) => {
      there.intake = counts.map((count) => ({ position: count, sent: count }));
      there.facts.user = [applied({ [FIRST]: counts[0] ?? 0, [SECOND]: counts[1] ?? 0 }), {}];
    };
    there.ends = [10, 10];
    through(10, 10);
    await there.watch.measure();
    expect((await shown('lagAge')).user_applied).toBe(0);
    there.now = 3_000;
    there.ends = [14, 10];
    await there.watch.measure();
    there.now = 4_500;
    there.ends = [20, 11];
    await there.watch.measure();
    expect(await shown('lagAge')).toEqual({ intake: 1.5, user_applied: 1.5, item_applied: 1.5 });
    through(14, 11);
    there.now = 5_000;
    await there.watch.measure();
    expect(await shown('lagAge')).toEqual({ intake: 0.5, user_applied: 0.5, item_applied: 0.5 });
  });

  it('follows a topic that is widened, and forgets one that is gone', async () => {
    const there = Object.assign(open(), { ends: [1, 1, 4] });
    await there.watch.measure();
    expect(await shown('lag')).toMatchObject({ 'intake ratings:2': 4 });
    there.topics = [];
    await there.watch.measure();
    expect(Object.keys(await shown('lag'))).toEqual(['item_applied 0', 'item_applied 1']);
    expect((await shown('lagAll')).intake).toBe(0);
  });

  it('turns the lag into the loss that the curve expects', async () => {
    const { watch } = Object.assign(open(), { ends: [6, 4] });
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

describe('the lag curve of the operator', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lag-curve-'));
  const path = join(folder, 'curve.json');
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is the one that ships unless a file is named', () => {
    expect(readLagCurve('')).toBe(defaultLagCurve);
  });

  it('is read from the file', () => {
    const own = { format: 1, source: 'ours', points: [{ lag: 5, loss: 0.2, lossCold: 0.1 }] };
    writeFileSync(path, JSON.stringify(own));
    expect(readLagCurve(path)).toEqual(own);
  });

  it('is refused with the setting, the file and the reason', () => {
    writeFileSync(path, '{"format": 1, "points": [');
    expect(() => readLagCurve(path)).toThrow(`cannot use the lag curve in ${path} (LAG_CURVE): `);
    writeFileSync(path, '{"format": 2}');
    expect(() => readLagCurve(path)).toThrow('not a lag curve');
    expect(() => readLagCurve(join(folder, 'none'))).toThrow(/LAG_CURVE.*ENOENT/);
  });
});
