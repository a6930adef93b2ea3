import type { SourcePartition } from '@freshet/positions';
import { NO_FACTS, NO_MARK } from '@freshet/store';
import { exposeMetrics, registry } from '@freshet/telemetry';
import { beforeEach, describe, expect, it } from 'vitest';
import { ServedLag } from './served-lag.ts';

const LIFE = 2;
let sources: SourcePartition[];
let applied: number;
let isAway: boolean;
let now: number;
let lag: ServedLag;

beforeEach(() => {
  exposeMetrics('scorer');
  sources = [source(0, { end: 10, position: 8, sent: 7 }), source(1, { end: 4, start: 1 })];
  applied = 6;
  isAway = false;
  now = 0;
  const read = async () => {
    if (isAway) throw new Error('no broker');
    return sources;
  };
  lag = new ServedLag({ read, applied: () => applied, now: () => now });
});

interface Read {
  start?: number;
  end: number;
  position?: number;
  sent?: number;
}

function source(partition: number, { start = 0, end, position, sent = 0 }: Read): SourcePartition {
  const mark = { topicId: 'id', life: LIFE, sent: { count: sent, sum: 0 } };
  return { topic: 'ratings', partition, start, end, position: position ?? null, mark };
}

async function told(): Promise<string> {
  await lag.measure();
  return registry.metrics();
}

describe('the lag of a scorer', () => {
  it('is what was produced and is not known here, at each scrape', async () => {
    // Of the first partition 2 are not read and 1 is not applied, of the second 3 are not read.
    expect(await told()).toContain('freshet_lag_ratings_all{point="served"} 6');
    expect(lag.lag).toEqual({ ratings: 6, ms: 0 });
    now = 500;
    applied = 12;
    const after = await told();
    expect(after).toContain('freshet_lag_ratings_all{point="served"} 0');
    expect(after).toContain('freshet_lag_seconds{point="served"} 0');
  });

  it('tells answers at once what a batch has brought, and since when the rest waits', async () => {
    await lag.look();
    now = 700;
    applied = 10;
    expect(lag.lag).toEqual({ ratings: 2, ms: 700 });
  });

  it('is not hidden by what shards applied of topics that are gone, or before a rebuild', async () => {
    const mark = (count: number, life = LIFE) => ({ ...NO_MARK, life, applied: { count, sum: 0 } });
    lag.setFacts(0, {
      ...NO_FACTS,
      sources: { 'ratings@id:0': mark(6), 'ratings@gone:0': mark(100) },
    });
    lag.setFacts(1, { ...NO_FACTS, sources: { 'ratings@id:1': mark(20, LIFE - 1) } });
    applied = 126;
    expect(await told()).toContain('freshet_lag_ratings_all{point="served"} 6');
  });

  it('is told from the last look while Kafka is away', async () => {
    await told();
    isAway = true;
    applied = 8;
    expect(await told()).toContain('freshet_lag_ratings_all{point="served"} 4');
  });
});
