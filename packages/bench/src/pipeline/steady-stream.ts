/** Ratings at a steady pace while something else is measured: a tick sends as many as are due. */
import { setTimeout as pause } from 'node:timers/promises';
import type { GeneratedRating } from '@freshet/experiments';
import { type OutRecord, Publisher } from '@freshet/stream';
import { benchRatings, produceBacklog, recordOf } from './backlog.ts';
import type { BenchSystem } from './bench-system.ts';
import { watchArrivals } from './hop.ts';

const TICK_MS = 10;
/** Enough that rows and vectors are not all new, and that users have lists of their own. */
const HISTORY = 20_000;
const HISTORY_LIMIT_MS = 60_000;

/** Starts all services, lets them learn a history, and goes on at a steady pace. */
export async function startUnderLoad(system: BenchSystem, ratePerSecond: number) {
  await produceBacklog(system, HISTORY);
  await system.local.startServices();
  await system.untilNoLag(HISTORY_LIMIT_MS);
  const arrivals = await watchArrivals(system);
  const ratings = benchRatings(10 * HISTORY);
  return { arrivals, stream: system.own(new SteadyStream(system, ratings, ratePerSecond)) };
}

export class SteadyStream {
  readonly #began = performance.now();
  readonly #running: Promise<void>;
  #sent = 0;
  #stopped = false;

  constructor(system: BenchSystem, ratings: Iterator<GeneratedRating>, ratePerSecond: number) {
    this.#running = this.#run(system, ratings, ratePerSecond);
  }

  get sent(): number {
    return this.#sent;
  }

  get rate(): number {
    return (this.#sent / (performance.now() - this.#began)) * 1_000;
  }

  async close(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(
    system: BenchSystem,
    ratings: Iterator<GeneratedRating>,
    ratePerSecond: number,
  ): Promise<void> {
    const publisher = await Publisher.open(system.session.kafka);
    while (!this.#stopped) {
      const records: OutRecord[] = [];
      const due = ((performance.now() - this.#began) / 1_000) * ratePerSecond - this.#sent;
      while (records.length < due) {
        const next = ratings.next();
        if (next.done) break;
        records.push(recordOf(system, next.value));
      }
      this.#sent += records.length;
      await publisher.publish(records);
      await pause(TICK_MS);
    }
    await publisher.close();
  }
}
