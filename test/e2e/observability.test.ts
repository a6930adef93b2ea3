/**
 * Does a real Prometheus, with our configuration, rules and alerts, see what happens in a running
 * system? And do the rules do what their tests say, by Prometheus' own tool?
 */

import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Child, freePort, stepsTo } from '@freshet/local';
import { eventually, RatingStream, System, sendRatings } from '@freshet/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { program } from '../../packages/local/src/provision.ts';
import { asked, prometheusFolder, rules, selectors } from '../deploy/monitoring.ts';
import { PrometheusServer } from '../deploy/prometheus-server.ts';

const run = promisify(execFile);
/** Ratings; many times what waits at any moment while all updaters work. */
const MUCH_LAG = 2_000;
/** Both users and items: each would be a series if it were a label. */
const DISTINCT = 2_000;

let system: System;
let prometheus: PrometheusServer;
let ratings: RatingStream;
const updaters: Child[] = [];

beforeAll(async () => {
  await program(
    'promtool',
    'prometheus',
    '',
    stepsTo(() => {}),
  );
  system = await System.start({ QUALITY_SAMPLE: '1' });
  const secondPort = String(await freePort());
  const second = system.launchAnother('updater', { UPDATER_ADMIN_PORT: secondPort });
  updaters.push(system.child('updater'), second);
  system.launch('console');
  await system.ready('console');
  const { environment } = system;
  const at = (port: string | undefined): string => `127.0.0.1:${port}`;
  prometheus = await PrometheusServer.start(
    new Map([
      ['updater-1:9400', at(environment.UPDATER_ADMIN_PORT)],
      ['updater-2:9400', at(secondPort)],
      ['aggregator:9400', at(environment.AGGREGATOR_ADMIN_PORT)],
      ['scorer:9400', at(environment.SCORER_ADMIN_PORT)],
      ['console:9400', at(environment.CONSOLE_ADMIN_PORT)],
    ]),
  );
  ratings = await RatingStream.open(system);
});

afterAll(async () => {
  // Whatever the test did: a stopped process would not receive the signal to end.
  for (const updater of updaters) if (updater.running) updater.signal('SIGCONT');
  await ratings?.close();
  await prometheus?.close();
  await system?.close();
});

const recorded = rules().flatMap(({ record }) => record ?? []);

/** Streams ratings and asks for recommendations until each of the series has a value. */
async function untilFigures(names: readonly string[]): Promise<void> {
  await ratings.during(() =>
    eventually('all of them', async () => {
      await system.recommendations('u7');
      const missing: string[] = [];
      for (const name of names) {
        const samples = await prometheus.query(name);
        if (!samples.some(({ value }) => Number.isFinite(value))) missing.push(name);
      }
      if (missing.length > 0) throw new Error(`missing: ${missing.join(', ')}`);
      return true;
    }),
  );
}

describe('the rules, by promtool', () => {
  it('are part of a configuration that Prometheus takes', async () => {
    const { stdout } = await run('promtool', ['check', 'config', 'prometheus.yml'], {
      cwd: prometheusFolder,
    });
    expect(stdout).toContain('2 rule files found');
  });

  it('fire and stay silent as their tests say', async () => {
    const folder = join(prometheusFolder, 'tests');
    const files = readdirSync(folder);
    const { stdout } = await run('promtool', ['test', 'rules', ...files], { cwd: folder });
    expect(stdout.match(/SUCCESS/g)).toHaveLength(files.length);
  });
});

describe('a Prometheus that scrapes a running system', () => {
  it('reaches every process', async () => {
    await eventually(
      'five targets to be up',
      async () => (await prometheus.value('sum(up)')) === 5,
    );
  });

  it('finds every series that a rule or a panel names', async () => {
    await sendRatings(system, [{ user: 'somebody', value: 'not a rating' }]);
    await ratings.produce(200);
    const wanted = selectors()
      .map(({ metric }) => metric)
      .filter((metric) => metric !== 'ALERTS' && !metric.includes(':'));
    await eventually('all of them', async () => {
      const names = await prometheus.names();
      const missing = new Set(wanted.filter((metric) => !names.has(metric)));
      if (missing.size > 0) throw new Error(`missing: ${[...missing].join(', ')}`);
      return true;
    });
  });

  it('understands every expression of every panel', async () => {
    for (const { where, expr } of asked()) {
      const filled = expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.+');
      await expect(prometheus.query(filled), where).resolves.toBeInstanceOf(Array);
    }
  });

  it('has a figure for every recording rule once ratings and requests flow', async () => {
    await untilFigures(recorded.filter((name) => !name.includes('prequential')));
  });

  it('has a figure for the quality of the lists, too', async () => {
    await untilFigures(recorded.filter((name) => name.includes('prequential')));
  });

  it('tells of parked ratings, and of nothing that is not so', async () => {
    const firing = await eventually('the alert', async () => {
      const found = await prometheus.firing();
      return found.has('FreshetRatingsParked') && found;
    });
    for (const alert of ['FreshetDown', 'FreshetNoActiveAggregator', 'FreshetGramDrift']) {
      expect([...firing]).not.toContain(alert);
    }
  });

  it('gets no new series however many users and items come', async () => {
    const before = await prometheus.series();
    await sendRatings(
      system,
      Array.from({ length: DISTINCT }, (_, n) => ({
        user: `one-time user ${n}`,
        value: { user: `one-time user ${n}`, item: `rare item ${n}`, value: 3 },
      })),
    );
    await system.settled();
    const items = 'max(freshet_catalogue_items)';
    await eventually('the scorer to know them', async () => {
      return ((await prometheus.value(items)) ?? 0) >= DISTINCT;
    });
    const known = Date.now() / 1_000;
    await eventually('a scrape of every process after that', async () => {
      return ((await prometheus.value('min(timestamp(up == 1))')) ?? 0) > known;
    });
    expect([...(await prometheus.series())].filter((each) => !before.has(each))).toEqual([]);
  });

  it('sees lag and loss rise while updaters stand still, and fall when they go on', async () => {
    const lag = 'freshet:lag_ratings:max{point="user_applied"}';
    const loss = 'freshet:expected_auc_loss_ratio:max{users="all"}';
    await eventually('lag to be gone', async () => (await prometheus.value(lag)) === 0);
    // All of them: one that goes on would take over before a busy machine has seen the lag.
    const signal = (name: NodeJS.Signals) => updaters.forEach((each) => void each.signal(name));
    await ratings.during(async () => {
      signal('SIGSTOP');
      const highest = await eventually('lag and loss to rise, and the alert to fire', async () => {
        const seen = {
          lag: (await prometheus.value(lag)) ?? 0,
          loss: (await prometheus.value(loss)) ?? 0,
        };
        const firing = [...(await prometheus.firing())];
        const isHigh = seen.lag > MUCH_LAG && seen.loss > 0.05;
        return isHigh && firing.includes('FreshetExpectedLoss') && seen;
      }).finally(() => signal('SIGCONT'));
      // Still under load: they catch up with what goes on coming.
      await eventually('lag to fall', async () => {
        return ((await prometheus.value(lag)) ?? highest.lag) < highest.lag / 4;
      });
    });
    await eventually('lag to be gone', async () => (await prometheus.value(lag)) === 0);
    await eventually('the loss to be gone', async () => (await prometheus.value(loss)) === 0);
  });
});
