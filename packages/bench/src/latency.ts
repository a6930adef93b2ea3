/**
 * At 1,000 ratings per second, how long is it from sending a rating until its user's vector is
 * stored, and until the scorer answers by that vector? Beside the hop to a plain consumer.
 */
import { Publisher } from '@freshet/stream';
import type { Figure } from './main.ts';
import { median, quantile } from './measuring.ts';
import { benchRatings, RATINGS_TOPIC } from './pipeline/backlog.ts';
import { BenchSystem } from './pipeline/bench-system.ts';
import { Probe } from './pipeline/probe.ts';
import { startUnderLoad } from './pipeline/steady-stream.ts';

const RATE_PER_SECOND = 1_000;
const MEASURE_MS = 10_000;
const WARM_UP_MS = 2_000;
const PROBES = 40_000; // more than there is time for

export async function bench(figure: Figure): Promise<void> {
  await BenchSystem.use((system) => measure(figure, system));
}

async function measure(figure: Figure, system: BenchSystem): Promise<void> {
  const { session } = system;
  const { arrivals, stream } = await startUnderLoad(system, RATE_PER_SECOND);
  const topicId = (await session.admin.topicId(RATINGS_TOPIC)) ?? RATINGS_TOPIC;
  const publisher = system.own(await Publisher.open(session.kafka));
  const probe = new Probe(system, { topicId, arrivals, publisher });
  await probe.run(benchRatings(PROBES / 2), performance.now() + WARM_UP_MS);
  const ratings = benchRatings(PROBES);
  const { committed, visible, hops } = await probe.run(ratings, performance.now() + MEASURE_MS);
  figure('latency_probes', committed.length, 'ratings followed to the store');
  figure('latency_stream_rate', stream.rate, 'ratings/s beside them');
  figure('committed_ms_p50', median(committed), 'ms');
  figure('committed_ms_p99', quantile(committed, 0.99), 'ms');
  figure('visible_ms_p50', median(visible), 'ms');
  figure('hop_ms_p50', median(hops), 'ms');
  figure('hop_ms_p99', quantile(hops, 0.99), 'ms');
  figure('latency_ratio', median(committed) / median(hops), 'of the bare hop');
}
