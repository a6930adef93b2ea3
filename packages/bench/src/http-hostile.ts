/**
 * What do hostile clients cost the others? Honest clients ask a scorer at a steady pace, alone and,
 * in turns, beside slow clients, bodies of 10 MB, lists of 10,000 excluded items and nonsense.
 */
import { Worker } from 'node:worker_threads';
import { MetricsPage } from '@freshet/telemetry';
import { httpLoad } from './http/http-load.ts';
import { pathOf, SHAPES, serveModel } from './http/served-model.ts';
import type { Figure } from './main.ts';
import { quantile } from './measuring.ts';
import { BenchSystem } from './pipeline/bench-system.ts';

const TURNS = 3;
const TURN_MS = 3_000;
const HOSTILE = new URL('./http/hostile-worker.js', import.meta.url);
/** About 500 requests per second, far below what a scorer can do without hostile clients. */
const PACE = { connections: 8, pauseMs: 15 };

export async function bench(figure: Figure): Promise<void> {
  await BenchSystem.use(async (system) => {
    const port = await serveModel(system, SHAPES.usual);
    await httpLoad(port, pathOf, TURN_MS);
    const latencies = { alone: [] as number[], beside: [] as number[] };
    for (let turn = 0; turn < TURNS; turn++) {
      latencies.alone.push(...(await httpLoad(port, pathOf, TURN_MS, PACE)).latencies);
      const hostile = new Worker(HOSTILE, { workerData: { port } });
      latencies.beside.push(...(await httpLoad(port, pathOf, TURN_MS, PACE)).latencies);
      await hostile.terminate();
    }
    for (const [name, all] of Object.entries(latencies)) {
      figure(`hostile_${name}_p50_ms`, quantile(all, 0.5), `ms of ${all.length} answers`);
      figure(`hostile_${name}_p99_ms`, quantile(all, 0.99), 'ms');
    }
    const page = await MetricsPage.scrape(system.settings.SCORER_ADMIN_PORT);
    const refused = page.sum('freshet_request_duration_seconds_count', { outcome: 'refused' });
    figure('hostile_refused', refused, 'of their requests, those that were HTTP');
    const ratio = quantile(latencies.beside, 0.99) / quantile(latencies.alone, 0.99);
    figure('hostile_p99_ratio', ratio, 'of the p99 without them');
  });
}
