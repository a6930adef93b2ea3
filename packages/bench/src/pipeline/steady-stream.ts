/**
 * Ratings at a steady pace while something else is measured: each tick sends as many as are due.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { topicName } from '@freshet/events';
import type { GeneratedRating } from '@freshet/experiments';
import { type OutRecord, Publisher } from '@freshet/stream';
import { recordOf } from './backlog.ts';
import type { BenchSystem } from './bench-system.ts';

const TICK_MS = 10;

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
    { session, settings }: BenchSystem,
    ratings: Iterator<GeneratedRating>,
    ratePerSecond: number,
  ): Promise<void> {
    const topic = topicName('ratings', session.model);
    const publisher = await Publisher.open(session.kafka);
    while (!this.#stopped) {
      const records: OutRecord[] = [];
      const due = ((performance.now() - this.#began) / 1_000) * ratePerSecond - this.#sent;
      while (records.length < due) {
        const next = ratings.next();
        if (next.done) break;
        records.push(recordOf(next.value, topic, settings.SHARDS));
      }
      this.#sent += records.length;
      await publisher.publish(records);
      await pause(TICK_MS);
    }
    await publisher.close();
  }
}
