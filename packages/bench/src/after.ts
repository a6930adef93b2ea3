/**
 * How long does it take from rating an item to a list that knows of the rating? A user rates the
 * first item of their list over HTTP and asks again with `after`: the item must be gone. All beside
 * a stream of 200 ratings per second, and compared with the hop to a plain consumer.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Figure } from './main.ts';
import { median, quantile } from './measuring.ts';
import { BenchSystem } from './pipeline/bench-system.ts';
import type { Arrivals } from './pipeline/hop.ts';
import { startUnderLoad } from './pipeline/steady-stream.ts';

const RATE_PER_SECOND = 200;
const WARM_UP_MS = 3_000;
const MEASURE_MS = 15_000;
const USERS = 6_040;
/** Visits the users in an order that has nothing to do with partitions. */
const STRIDE = 1_009;

export async function bench(figure: Figure): Promise<void> {
  await BenchSystem.use(async (system) => {
    const { arrivals } = await startUnderLoad(system, RATE_PER_SECOND);
    const url = `${system.local.scorerUrl}/v1`;
    await probe(url, arrivals, performance.now() + WARM_UP_MS);
    const probes = await probe(url, arrivals, performance.now() + MEASURE_MS);
    figure('after_probes', probes.answered.length, 'ratings');
    figure('after_accepted_ms_p50', median(probes.accepted), 'ms, of the whole');
    const [answered, hop] = [median(probes.answered), median(probes.hops)];
    figure('after_ms_p50', answered, 'ms');
    figure('after_ms_p99', quantile(probes.answered, 0.99), 'ms');
    figure('after_hop_ms_p50', hop, 'ms');
    figure('after_ratio', answered / hop, 'of the bare hop');
  });
}

async function probe(url: string, arrivals: Arrivals, until: number) {
  /** In ms from the start: rating accepted, list without the item, rating at a plain consumer. */
  const probes = { accepted: [] as number[], answered: [] as number[], hops: [] as number[] };
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
    probes.hops.push((arrivals.get(after) as number) - sentAt);
  }
  return probes;
}

async function listOf(url: string): Promise<string[]> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const { items } = (await response.json()) as { items: { item: string }[] };
  return items.map(({ item }) => item);
}

async function rate(url: string, rating: object) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(rating) });
  const answer = (await response.json()) as { ratings?: { partition: number; offset: number }[] };
  const place = answer.ratings?.[0];
  if (place === undefined) throw new Error(`rating refused: ${response.status}`);
  return place;
}
