/**
 * How fast is the recommendation API compared with a bare fastify server that returns the same
 * bytes? Both are asked in turns while vectors of a MovieLens-1M model move. `--large`: a model of
 * 100,000 items; `--cold`: the start and size of a scorer with a million items instead.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Child, freePort } from '@freshet/local';
import { coldStart } from './http/cold-start.ts';
import { httpLoad, type Load } from './http/http-load.ts';
import { MOVES_PER_SECOND } from './http/moving-model.ts';
import { pathOf, SHAPES, serveModel } from './http/served-model.ts';
import type { BenchOptions, Figure } from './main.ts';
import { median, quantile } from './measuring.ts';
import { BenchSystem } from './pipeline/bench-system.ts';

const TURNS = 4;
const TURN_MS = 1_500;
/** Long enough to read every user once and to compile the code, even on a busy machine. */
const WARM_UP_MS = 6_000;
/** The folder from which fastify can be imported. */
const SCORER = fileURLToPath(new URL('../../../services/scorer', import.meta.url));

const bareServer = `
import fastify from 'fastify';
const [port, body] = process.argv.slice(1);
const api = fastify();
api.get('/v1/recommendations/:user', (_, reply) => reply.type('application/json; charset=utf-8').send(body));
await api.listen({ port: Number(port), host: '127.0.0.1' });
`;

export async function bench(figure: Figure, { cold, large }: BenchOptions): Promise<void> {
  const task = cold ? coldStart : measure;
  const shape = large ? SHAPES.large : SHAPES.usual;
  await BenchSystem.use((system) => task(figure, system, shape));
}

async function measure(
  figure: Figure,
  system: BenchSystem,
  shape: Parameters<typeof serveModel>[1],
): Promise<void> {
  const port = await serveModel(system, shape);
  const answer = await (await fetch(`http://127.0.0.1:${port}${pathOf(0)}`)).text();
  const barePort = await startBare(system, answer);
  await httpLoad(port, pathOf, WARM_UP_MS);
  await httpLoad(barePort, pathOf, TURN_MS);
  const turns: { ours: Load; bare: Load }[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const ours = await httpLoad(port, pathOf, TURN_MS);
    turns.push({ ours, bare: await httpLoad(barePort, pathOf, TURN_MS) });
  }
  const rates = (side: 'ours' | 'bare') => median(turns.map((turn) => turn[side].ratePerSecond));
  const tail = (side: 'ours' | 'bare') =>
    median(turns.map((turn) => quantile(turn[side].latencies, 0.99)));
  figure('http_moves', MOVES_PER_SECOND, 'items and as many users a second move meanwhile');
  figure('http_rate', rates('ours'), 'answers/s');
  figure('http_bare_rate', rates('bare'), 'answers/s');
  figure('http_rate_ratio', rates('ours') / rates('bare'), 'of bare fastify');
  figure('http_p99_ms', tail('ours'), 'ms');
  figure('http_p99_ratio', tail('ours') / tail('bare'), 'of bare fastify');
}

async function startBare(system: BenchSystem, body: string): Promise<number> {
  const port = await freePort();
  const child = Child.start({
    name: 'bare',
    command: process.execPath,
    args: ['--input-type=module', '-e', bareServer, '--', String(port), body],
    logFile: join(system.local.folder, 'bare.log'),
    folder: SCORER,
  });
  system.own({ close: () => child.stop() });
  const url = `http://127.0.0.1:${port}/v1/recommendations/x`;
  await child.until(async () => (await fetch(url).catch(() => undefined))?.ok ?? false, 10_000);
  return port;
}
