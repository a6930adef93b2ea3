/**
 * Compares the live quality figures of a running system with the experiments' protocol on the same
 * ratings.
 */
import { generateRatings, loadTable, Runner } from '@freshet/experiments';
import { defaultModel } from '@freshet/model';
import type { Publisher } from '@freshet/stream';
import type { LabelSet } from '@freshet/telemetry';
import { eventually, openPublisher, ratingsRecord, System } from '@freshet/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Fewer ratings than the window holds, so that the figures cover all of them. */
const ratings = [...generateRatings({ users: 120, items: 200, ratings: 4_000, seed: 9 })];
/** Ratings per wave. A wave is learnt before the next is sent, since lag would cost quality. */
const BURST = 40;

let system: System;
let publisher: Publisher;

beforeAll(async () => {
  system = await System.start({ QUALITY_SAMPLE: '1', RANKING_SAMPLE: '1' });
  publisher = await openPublisher(system);
});

afterAll(async () => {
  await publisher?.close();
  await system?.close();
});

describe('the live figures of quality', () => {
  it('are those of the dynamic protocol, but for what being a moment late costs', async () => {
    for (let at = 0; at < ratings.length; at += BURST) {
      const burst = ratings.slice(at, at + BURST);
      await publisher.publish(burst.map((value) => ratingsRecord({ user: value.user, value })));
      await eventually('the burst to be learnt', async () => {
        const labels = { point: 'item_applied' };
        return (await system.metric('aggregator', 'freshet_lag_ratings_all', labels)) === 0;
      });
    }
    const runner = new Runner(await loadTable([ratings]), { workers: 0 });
    const blocks = { protocol: 'dynamic', seed: 1, train: 1, test: ratings.length - 1 } as const;
    const settings = { ...defaultModel, rankingSample: 1 };
    const method = { kind: 'model', settings, passes: 1, tolerance: 0 } as const;
    const [exact] = await runner.run([{ ...blocks, delay: 0, method }]);
    const live = (metric: string, labels: LabelSet = { users: 'all', method: 'model' }) =>
      system.metric('updater', `freshet_prequential_${metric}`, labels);
    // The protocol does not ask about the one rating that its first model is made of. Live, a
    // rating is left out if all that was drawn for it is rated: a user of this small catalogue may
    // have rated half of it.
    const most = (exact?.events ?? 0) + 1;
    const events = await live('events', { users: 'all' });
    expect(events).toBeLessThanOrEqual(most);
    expect(events).toBeGreaterThan(0.97 * most);
    const auc = (await live('auc_ratio')) - (exact?.aucServed ?? Number.NaN);
    expect(auc).toBeGreaterThan(-0.03);
    expect(auc).toBeLessThan(0.01);
    const hits = (await live('hit_ratio')) - (exact?.hitRate10 ?? Number.NaN);
    expect(hits).toBeGreaterThan(-0.06);
    expect(hits).toBeLessThan(0.02);
  });
});
