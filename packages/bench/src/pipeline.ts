/**
 * How many ratings per second does the whole system learn, and what share is that of the rate of
 * bare transport? Drains a backlog in turns of 3 s. Between them the services are halted and the
 * bare loop has its turns, so that both see the same machine.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { topicName } from '@freshet/events';
import type { BenchOptions, Figure } from './main.ts';
import { median } from './measuring.ts';
import { produceBacklog } from './pipeline/backlog.ts';
import { BareLoop } from './pipeline/bare-loop.ts';
import { BenchSystem } from './pipeline/bench-system.ts';

const TURNS = 4;
const TURN_MS = 3_000;
const BARE_TURN_MS = 1_500;
/** More than two cores can learn in 12 s; the bare loop reads the same records. */
const BACKLOG = 500_000;
const SCORER_LIMIT_MS = 10_000;

export async function bench(figure: Figure, { argument }: BenchOptions): Promise<void> {
  const count = argument === undefined ? BACKLOG : Number(argument);
  await BenchSystem.use((system) => measure(figure, system, count));
}

async function measure(figure: Figure, system: BenchSystem, count: number): Promise<void> {
  const began = performance.now();
  const backlog = await produceBacklog(system, count);
  figure('produce_rate', (count / (performance.now() - began)) * 1_000, 'ratings/s');
  const bare = new BareLoop(system, backlog);
  await system.local.startServices();
  const rates: number[] = [];
  const bareRates: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const rate = await system.rateOver(TURN_MS);
    // In a turn during which the backlog ran out, the services had nothing to do for a while.
    if ((await system.applied()).user < count) rates.push(rate);
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

/** How long until the scorer, which tells its position every second, has read what is there now. */
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
