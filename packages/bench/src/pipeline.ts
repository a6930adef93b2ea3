/**
 * How many ratings per second does the whole system learn, both half-steps and the scorer keeping up, and
 * which share is that of what bare transport would do? Drains a backlog in turns of 3 s, 12 s in all; between
 * them the services stand still and the bare loop has its turns, so that both see the same machine.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { topicName } from '@freshet/events';
import type { Figure } from './main.ts';
import { produceBacklog } from './pipeline/backlog.ts';
import { BareLoop } from './pipeline/bare-loop.ts';
import { BenchSystem } from './pipeline/bench-system.ts';
import { median } from './pipeline/quantile.ts';

const TURNS = 4;
const TURN_MS = 3_000;
const BARE_TURN_MS = 1_500;
/** More than 12 s of what this can do on two cores; the bare loop reads the same. */
const BACKLOG = 500_000;
const SCORER_LIMIT_MS = 10_000;

export async function bench(figure: Figure, args: readonly string[]): Promise<void> {
  const count = args[0] === undefined ? BACKLOG : Number(args[0]);
  await BenchSystem.use((system) => measure(figure, system, count));
}

async function measure(figure: Figure, system: BenchSystem, count: number): Promise<void> {
  const began = performance.now();
  const backlog = await produceBacklog(system, count);
  figure('produce_rate', (count / (performance.now() - began)) * 1_000, 'ratings/s');
  const bare = new BareLoop(system, backlog);
  await system.startServices();
  const rates: number[] = [];
  const bareRates: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const rate = await pipelineTurn(system, count);
    if (rate !== undefined) rates.push(rate);
    if (turn === TURNS - 1) figure('scorer_behind_ms', await scorerBehindMs(system), 'ms');
    system.freeze();
    bareRates.push(await bare.turn(BARE_TURN_MS));
    system.thaw();
  }
  figure('pipeline_rate', median(rates), 'ratings/s');
  figure('bare_rate', median(bareRates), 'ratings/s');
  figure('pipeline_rate_ratio', median(rates) / median(bareRates), 'of the bare loop');
  figure('pipeline_turns', rates.length, `of ${TURNS} before the backlog ended`);
}

/** Ratings per second that both sides have committed; undefined if the backlog ran out. */
async function pipelineTurn(system: BenchSystem, count: number): Promise<number | undefined> {
  const before = await system.applied();
  const began = performance.now();
  await pause(TURN_MS);
  const after = await system.applied();
  if (after.user >= count) return undefined;
  const seconds = (performance.now() - began) / 1_000;
  return Math.min(after.user - before.user, after.item - before.item) / seconds;
}

/** How long until the scorer has what is published now; it tells where it is once a second. */
async function scorerBehindMs({ session }: BenchSystem): Promise<number> {
  const topic = topicName('itemFactors', session.model);
  const ends = await session.admin.ends(topic);
  const began = performance.now();
  const prefix = `${session.model}.tail.`;
  for (;;) {
    const positions = await session.admin.positionsOf('freshet-scorer', prefix, topic);
    const waited = performance.now() - began;
    const isThere = [...ends].every(([at, end]) => end === 0 || (positions.get(at) ?? 0) >= end);
    if (isThere || waited > SCORER_LIMIT_MS) return waited;
    await pause(50);
  }
}
