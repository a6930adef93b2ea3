/**
 * At 1,000 ratings per second, how long from sending a rating until its user's vector is committed, and
 * until the scorer answers by it? Against a bare hop, the same records from the same producer to a plain
 * consumer, in the same run.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { topicName } from '@freshet/events';
import type { GeneratedRating } from '@freshet/experiments';
import { Publisher, Tail } from '@freshet/stream';
import type { Figure } from './main.ts';
import { benchRatings, produceBacklog, recordOf } from './pipeline/backlog.ts';
import { BenchSystem } from './pipeline/bench-system.ts';
import { Probe } from './pipeline/probe.ts';
import { quantile } from './pipeline/quantile.ts';

const RATE_PER_SECOND = 1_000;
const TICK_MS = 10;
const MEASURE_MS = 10_000;
const WARM_UP_MS = 2_000;
/** Enough that rows and vectors are not all new. */
const HISTORY = 20_000;
const HISTORY_LIMIT_MS = 60_000;

export async function bench(figure: Figure, _args: readonly string[]): Promise<void> {
  await BenchSystem.use(async (system) => {
    await produceBacklog(system, HISTORY);
    await system.startServices();
    await system.untilNoLag(HISTORY_LIMIT_MS);
    await measure(figure, system);
  });
}

async function measure(figure: Figure, system: BenchSystem): Promise<void> {
  const { session, log } = system;
  const arrivals = new Map<string, number>();
  const topic = topicName('ratings', session.model);
  const fail = (error: unknown) => {
    throw error;
  };
  const ends = await session.admin.ends(topic);
  const hop = await Tail.open(session.kafka, session.admin, {
    topic,
    model: 'hop',
    log,
    fail,
    startAt: async (partition) => ends.get(partition) ?? 0,
    receive: (partition, records) => {
      const now = performance.now();
      for (const { offset } of records) arrivals.set(`${partition}/${offset}`, now);
    },
  });
  system.own(hop);
  const stream = new Stream(system, topic);
  system.own(stream);
  stream.start();
  const topicId = (await session.admin.topicId(topic)) ?? topic;
  const publisher = system.own(await Publisher.open(session.kafka));
  const probe = new Probe(system, { topic, topicId, arrivals, publisher });
  await probe.run(benchRatings(HISTORY), performance.now() + WARM_UP_MS);
  const { committed, visible, hops } = await probe.run(
    benchRatings(2 * HISTORY),
    performance.now() + MEASURE_MS,
  );
  figure('latency_probes', committed.length, 'ratings followed to the store');
  figure('latency_stream_rate', stream.rate, 'ratings/s beside them');
  figure('committed_ms_p50', quantile(committed, 0.5), 'ms');
  figure('committed_ms_p99', quantile(committed, 0.99), 'ms');
  figure('visible_ms_p50', quantile(visible, 0.5), 'ms');
  figure('hop_ms_p50', quantile(hops, 0.5), 'ms');
  figure('hop_ms_p99', quantile(hops, 0.99), 'ms');
  figure('latency_ratio', quantile(committed, 0.5) / quantile(hops, 0.5), 'of the bare hop');
}

/** The ratings that everything else happens beside: as many every tick as are due. */
class Stream {
  readonly #system: BenchSystem;
  readonly #topic: string;
  readonly #ratings: Generator<GeneratedRating, void>;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;
  #sent = 0;
  #began = 0;

  constructor(system: BenchSystem, topic: string) {
    this.#system = system;
    this.#topic = topic;
    this.#ratings = benchRatings(10 * HISTORY);
  }

  get rate(): number {
    return (this.#sent / (performance.now() - this.#began)) * 1_000;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const publisher = await Publisher.open(this.#system.session.kafka);
    this.#began = performance.now();
    while (!this.#stopped) {
      const due = ((performance.now() - this.#began) / 1_000) * RATE_PER_SECOND - this.#sent;
      const records = [];
      for (let n = 0; n < due; n++) {
        const next = this.#ratings.next();
        if (next.done) break;
        records.push(recordOf(next.value, this.#topic, this.#system.settings.SHARDS));
      }
      this.#sent += records.length;
      await publisher.publish(records);
      await pause(TICK_MS);
    }
    await publisher.close();
  }
}
