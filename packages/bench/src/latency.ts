/**
 * At 1,000 ratings per second, how long does it take from sending a rating until the vector of its
 * user is committed, and until the scorer answers by that vector? Compared with the hop of the same
 * records to a plain consumer.
 */
import { topicName } from '@freshet/events';
import { Publisher } from '@freshet/stream';
import type { Figure } from './main.ts';
import { median, quantile } from './measuring.ts';
import { benchRatings, produceBacklog } from './pipeline/backlog.ts';
import { BenchSystem } from './pipeline/bench-system.ts';
import { watchArrivals } from './pipeline/hop.ts';
import { Probe } from './pipeline/probe.ts';
import { SteadyStream } from './pipeline/steady-stream.ts';

const RATE_PER_SECOND = 1_000;
const MEASURE_MS = 10_000;
const WARM_UP_MS = 2_000;
/** Enough that rows and vectors are not all new. */
const HISTORY = 20_000;
const HISTORY_LIMIT_MS = 60_000;

export async function bench(figure: Figure): Promise<void> {
  await BenchSystem.use(async (system) => {
    await produceBacklog(system, HISTORY);
    await system.local.startServices();
    await system.untilNoLag(HISTORY_LIMIT_MS);
    await measure(figure, system);
  });
}

async function measure(figure: Figure, system: BenchSystem): Promise<void> {
  const { session } = system;
  const topic = topicName('ratings', session.model);
  const arrivals = await watchArrivals(system);
  const stream = new SteadyStream(system, benchRatings(10 * HISTORY), RATE_PER_SECOND);
  system.own(stream);
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
  figure('committed_ms_p50', median(committed), 'ms');
  figure('committed_ms_p99', quantile(committed, 0.99), 'ms');
  figure('visible_ms_p50', median(visible), 'ms');
  figure('hop_ms_p50', median(hops), 'ms');
  figure('hop_ms_p99', quantile(hops, 0.99), 'ms');
  figure('latency_ratio', median(committed) / median(hops), 'of the bare hop');
}
