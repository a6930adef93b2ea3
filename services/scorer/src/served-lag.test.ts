import { Freshness } from '@freshet/session';
import { exposeMetrics, registry } from '@freshet/telemetry';
import { beforeEach, describe, expect, it } from 'vitest';
import { ServedLag } from './served-lag.ts';

let ends: Map<number, number>;
let served: Map<number, number>;
let kafka: () => Promise<Map<number, number>>;
let lag: ServedLag;

beforeEach(() => {
  exposeMetrics('scorer');
  ends = new Map([
    [0, 10],
    [1, 4],
  ]);
  served = new Map([[0, 7]]);
  kafka = async () => new Map(ends);
  lag = new ServedLag(new Freshness(() => kafka()), () => served);
});

async function told(): Promise<string> {
  await lag.measure();
  return registry.metrics();
}

describe('the lag of a scorer', () => {
  it('is what was produced and is not known here, by partition and over all, at each scrape', async () => {
    const text = await told();
    expect(text).toContain('freshet_lag_ratings{point="served",partition="0"} 3');
    expect(text).toContain('freshet_lag_ratings{point="served",partition="1"} 4');
    expect(text).toContain('freshet_lag_ratings_all{point="served"} 7');
    ends.set(0, 12);
    served = new Map([
      [0, 12],
      [1, 4],
    ]);
    const after = await told();
    expect(after).toContain('freshet_lag_ratings_all{point="served"} 0');
    expect(after).toContain('freshet_lag_seconds{point="served"} 0');
  });

  it('is told from the last look while Kafka is away', async () => {
    await told();
    kafka = async () => {
      throw new Error('no broker');
    };
    served = new Map([[0, 9]]);
    expect(await told()).toContain('freshet_lag_ratings_all{point="served"} 5');
  });
});
