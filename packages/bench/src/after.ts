/**
 * How long from rating an item to a list that knows of it? Somebody rates, over HTTP, the first item of their
 * list and asks again with `after`; it must be gone. Beside a stream of 200 ratings per second, and against a
 * bare hop of the same ratings to a plain consumer in the same run.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { topicName } from '@freshet/events';
import { Tail } from '@freshet/stream';
import type { Figure } from './main.ts';
import { benchRatings, produceBacklog } from './pipeline/backlog.ts';
import { BenchSystem } from './pipeline/bench-system.ts';
import { quantile } from './pipeline/quantile.ts';
import { steadyStream } from './pipeline/steady-stream.ts';

const RATE_PER_SECOND = 200;
const WARM_UP_MS = 3_000;
const MEASURE_MS = 15_000;
/** Enough that users have lists of their own. */
const HISTORY = 20_000;
const HISTORY_LIMIT_MS = 60_000;
const USERS = 6_040;
/** Visits users in no order that the partitions have. */
const STRIDE = 1_009;

interface Place {
  readonly partition: number;
  readonly offset: number;
}

interface Probes {
  /** ms until the rating is accepted. */
  readonly accepted: number[];
  /** ms until the list without the item, from the same start. */
  readonly answered: number[];
  /** ms until a plain consumer has the rating. */
  readonly hops: number[];
}

export async function bench(figure: Figure, _args: readonly string[]): Promise<void> {
  await BenchSystem.use(async (system) => {
    await produceBacklog(system, HISTORY);
    await system.startServices();
    await system.untilNoLag(HISTORY_LIMIT_MS);
    const arrivals = await watchArrivals(system);
    const stopping = new AbortController();
    const ratings = benchRatings(10 * HISTORY);
    const streaming = steadyStream(system, ratings, RATE_PER_SECOND, stopping.signal);
    const url = `http://127.0.0.1:${system.settings.SCORER_PORT}/v1`;
    await probe(url, arrivals, performance.now() + WARM_UP_MS);
    const probes = await probe(url, arrivals, performance.now() + MEASURE_MS);
    stopping.abort();
    await streaming;
    figure('after_probes', probes.answered.length, 'ratings');
    figure('after_accepted_ms_p50', quantile(probes.accepted, 0.5), 'ms, of the whole');
    figure('after_ms_p50', quantile(probes.answered, 0.5), 'ms');
    figure('after_ms_p99', quantile(probes.answered, 0.99), 'ms');
    figure('after_hop_ms_p50', quantile(probes.hops, 0.5), 'ms');
    figure(
      'after_ratio',
      quantile(probes.answered, 0.5) / quantile(probes.hops, 0.5),
      'of the bare hop',
    );
  });
}

async function watchArrivals(system: BenchSystem): Promise<Map<string, number>> {
  const { session, log } = system;
  const arrivals = new Map<string, number>();
  const topic = topicName('ratings', session.model);
  const ends = await session.admin.ends(topic);
  const fail = (error: unknown) => {
    throw error;
  };
  const hop = await Tail.open(session.kafka, session.admin, {
    topic,
    model: 'hop',
    log,
    fail,
    startAt: async (partition) => ends.get(partition) ?? 0,
    receive: (partition, records) => {
      const now = performance.now();
      for (const { offset } of records) arrivals.set(`${partition}:${offset}`, now);
    },
  });
  system.own(hop);
  return arrivals;
}

async function probe(url: string, arrivals: Map<string, number>, until: number): Promise<Probes> {
  const probes: Probes = { accepted: [], answered: [], hops: [] };
  for (let nth = 0; performance.now() < until; nth++) {
    const user = `u${1 + ((nth * STRIDE) % USERS)}`;
    const [item] = await listOf(`${url}/recommendations/${user}`);
    if (item === undefined) throw new Error('an empty list');
    arrivals.clear();
    const sentAt = performance.now();
    const place = await rate(`${url}/ratings`, { user, item, value: 5 });
    probes.accepted.push(performance.now() - sentAt);
    const after = `${place.partition}:${place.offset}`;
    const items = await listOf(`${url}/recommendations/${user}?n=100&after=${after}`);
    probes.answered.push(performance.now() - sentAt);
    if (items.includes(item)) throw new Error(`${item} is recommended although it was rated`);
    while (!arrivals.has(after)) await pause(1);
    probes.hops.push((arrivals.get(after) ?? 0) - sentAt);
  }
  return probes;
}

async function listOf(url: string): Promise<string[]> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const { items } = (await response.json()) as { items: { item: string }[] };
  return items.map(({ item }) => item);
}

async function rate(url: string, rating: object): Promise<Place> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(rating) });
  const { ratings } = (await response.json()) as { ratings?: Place[] };
  const [place] = ratings ?? [];
  if (place === undefined) throw new Error(`rating refused: ${response.status}`);
  return place;
}
