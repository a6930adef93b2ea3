/**
 * Which share of a bare fastify server's rate, returning the same bytes, does the recommendation API reach
 * at MovieLens-1M's size, and how many times its p99 does it take? Both servers run all the time and are
 * asked in turns. With `--cold`, instead: start and size of a scorer with a million items.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateRatings } from '@freshet/experiments';
import { Child, freePort, isReady, startService } from '@freshet/local';
import { defaultModel, factorize, OnlineModel, type Side } from '@freshet/model';
import type { Figure } from './command.ts';
import { coldStart } from './http/cold-start.ts';
import { fillSide } from './http/fill-store.ts';
import { httpLoad, type Load } from './http/http-load.ts';
import { BenchSystem } from './pipeline/bench-system.ts';
import { median, quantile } from './pipeline/quantile.ts';

const SHAPE = { users: 6_040, items: 3_706, ratings: 1_000_000, seed: 4 };
const TURNS = 4;
const TURN_MS = 1_500;
const READY_LIMIT_MS = 60_000;
/** fastify is known there. */
const SCORER = fileURLToPath(new URL('../../../../services/scorer', import.meta.url));

const bareServer = `
import fastify from 'fastify';
const [port, body] = process.argv.slice(1);
const api = fastify();
api.get('/v1/recommendations/:user', (_, reply) => reply.type('application/json; charset=utf-8').send(body));
await api.listen({ port: Number(port), host: '127.0.0.1' });
`;

export async function bench(figure: Figure, args: readonly string[]): Promise<void> {
  const task = args.includes('--cold') ? coldStart : measure;
  await BenchSystem.use(async (system) => {
    const folder = mkdtempSync(join(tmpdir(), 'freshet-http-'));
    system.own({ close: async () => rmSync(folder, { recursive: true, force: true }) });
    await task(figure, system, folder);
  });
}

async function measure(figure: Figure, system: BenchSystem, folder: string): Promise<void> {
  await fill(system);
  const { settings, environment } = system;
  const ports = [settings.AGGREGATOR_ADMIN_PORT, settings.SCORER_ADMIN_PORT];
  for (const [nth, name] of (['aggregator', 'scorer'] as const).entries()) {
    const child = startService(name, environment, folder);
    system.own({ close: () => child.stop() });
    await child.until(() => isReady(ports[nth] ?? 0), READY_LIMIT_MS);
  }
  const pathOf = (nth: number) => `/v1/recommendations/u${1 + (nth % SHAPE.users)}`;
  const port = settings.SCORER_PORT;
  const answer = await (await fetch(`http://127.0.0.1:${port}${pathOf(0)}`)).text();
  const barePort = await startBare(system, folder, answer);
  for (const each of [port, barePort]) await httpLoad(each, pathOf, 2 * TURN_MS);
  const turns: { ours: Load; bare: Load }[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const ours = await httpLoad(port, pathOf, TURN_MS);
    turns.push({ ours, bare: await httpLoad(barePort, pathOf, TURN_MS) });
  }
  const rates = (side: 'ours' | 'bare') => median(turns.map((turn) => turn[side].ratePerSecond));
  const tail = (side: 'ours' | 'bare') =>
    median(turns.map((turn) => quantile(turn[side].latencies, 0.99)));
  figure('http_rate', rates('ours'), 'answers/s');
  figure('http_bare_rate', rates('bare'), 'answers/s');
  figure('http_rate_ratio', rates('ours') / rates('bare'), 'of bare fastify');
  figure('http_p99_ms', tail('ours'), 'ms');
  figure('http_p99_ratio', tail('ours') / tail('bare'), 'of bare fastify');
}

async function startBare(system: BenchSystem, folder: string, body: string): Promise<number> {
  const port = await freePort();
  const child = Child.start({
    name: 'bare',
    command: process.execPath,
    args: ['--input-type=module', '-e', bareServer, '--', String(port), body],
    logFile: join(folder, 'bare.log'),
    folder: SCORER,
  });
  system.own({ close: () => child.stop() });
  const url = `http://127.0.0.1:${port}/v1/recommendations/x`;
  await child.until(async () => (await fetch(url).catch(() => undefined))?.ok ?? false, 10_000);
  return port;
}

/** Learnt vectors and whole rows, as the stream would have left them. */
async function fill({ session, settings }: BenchSystem): Promise<void> {
  const model = new OnlineModel({ ...defaultModel, factorCount: settings.FACTOR_COUNT });
  for (const { user, item, value, time } of generateRatings(SHAPE)) {
    model.record(user, item, value, time);
  }
  factorize(model, { seed: 1, passes: 1, tolerance: 0 });
  for (const side of ['item', 'user'] as const) {
    await fillSide(session.store, side, settings.PARTITIONS, entities(model, side));
  }
}

function* entities(model: OnlineModel, side: Side) {
  const state = side === 'user' ? model.users : model.items;
  for (const id of state.ids()) {
    const vector = new Float32Array(model.settings.factorCount);
    state.vectors.read(state.slotOf(id) ?? 0, vector);
    const ratings = side === 'user' ? [...model.ratingsOf(id)] : [];
    yield { id, vector, row: ratings.map(({ item, value }) => ({ neighbour: item, value })) };
  }
}
