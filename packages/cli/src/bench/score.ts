/**
 * How much faster than the baseline is an exact top 10, one thread, 50 factors? On random directions with
 * log-normal norms, which leave least to prune, and on factors learnt from generated ratings. Both sides
 * take turns on the same vectors and count CPU time; the best turn of each counts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateRatings } from '@freshet/experiments';
import { type Search, wasmKernels } from '@freshet/kernels';
import { defaultModel, factorize, OnlineModel, Random } from '@freshet/model';
import type { Figure } from './command.ts';
import { type Baseline, numpyBaseline } from './score/baseline.ts';
import { cpuSecondsPerQuery } from './score/cpu-time.ts';
import { naiveBaseline } from './score/naive-baseline.ts';

const K = 50;
const QUERIES = 256;
const BATCH = 64;
const TURNS = 3;
const SEED = 19;
const SIGMA = 0.5;
/** More items than are asked for: the least popular are never rated and have no vector. */
const LEARNT = { users: 20_000, items: 220_000, ratings: 800_000, seed: 5 };
const LEARNT_ITEMS = 100_000;

interface Fixture {
  readonly vectors: Float32Array;
  readonly queries: Float32Array;
}

export async function bench(figure: Figure, _args: readonly string[]): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'freshet-score-'));
  const baseline = (await numpyBaseline(scratch)) ?? naiveBaseline();
  try {
    process.stdout.write(`# baseline ${baseline.name}\n`);
    const { vectors, queries } = randomFixture(1_000_000);
    const few = { vectors: vectors.subarray(0, 100_000 * K), queries };
    await compare(figure, baseline, '100k', few, ['single', 'batch']);
    await compare(figure, baseline, '1m', { vectors, queries }, ['single']);
    await compare(figure, baseline, 'learnt', learntFixture(), ['single']);
  } finally {
    await baseline.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function compare(
  figure: Figure,
  baseline: Baseline,
  label: string,
  { vectors, queries }: Fixture,
  kinds: readonly ('single' | 'batch')[],
): Promise<void> {
  await baseline.load(vectors, queries, K);
  const ours = searcher(vectors, queries);
  for (const kind of kinds) {
    const name = kind === 'single' ? 'score' : 'score_batch';
    let [best, theirs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let turn = 0; turn < TURNS; turn++) {
      best = Math.min(best, ours(kind));
      theirs = Math.min(theirs, await baseline.turn(kind));
    }
    figure(`${name}_rate_${label}`, 1 / best, 'queries per CPU-second');
    figure(`${name}_baseline_rate_${label}`, 1 / theirs, 'queries per CPU-second');
    figure(`${name}_speedup_${label}`, theirs / best, 'times');
  }
}

/** One turn of ours: CPU-seconds per query. */
function searcher(vectors: Float32Array, queries: Float32Array) {
  const kernels = wasmKernels();
  const table = kernels.rankedTable(K);
  for (let at = 0; at < vectors.length; at += K) {
    table.write(table.add(), vectors.subarray(at, at + K));
  }
  const searches = Array.from({ length: QUERIES }, (_, nth): Search => {
    const best = { length: 0, slots: new Uint32Array(10), scores: new Float32Array(10) };
    const query = queries.subarray(nth * K, (nth + 1) * K);
    return { query, excluded: [], best, tied: false };
  });
  const singles = searches.map((search) => [search]);
  const batch = searches.slice(0, BATCH);
  return (kind: 'single' | 'batch'): number =>
    kind === 'single'
      ? cpuSecondsPerQuery(1, (nth) => kernels.search(singles[nth % QUERIES] ?? [], table))
      : cpuSecondsPerQuery(BATCH, () => kernels.search(batch, table));
}

function randomFixture(items: number): Fixture {
  const random = new Random(SEED);
  const draw = (count: number, norm: () => number): Float32Array => {
    const all = new Float32Array(count * K);
    for (let at = 0; at < all.length; at += K) {
      let square = 0;
      for (let f = 0; f < K; f++) {
        const factor = random.normal();
        all[at + f] = factor;
        square += factor * factor;
      }
      const scale = norm() / Math.sqrt(square);
      for (let f = 0; f < K; f++) all[at + f] = (all[at + f] ?? 0) * scale;
    }
    return all;
  };
  return {
    vectors: draw(items, () => Math.exp(SIGMA * random.normal())),
    queries: draw(QUERIES, () => 1),
  };
}

function learntFixture(): Fixture {
  const model = new OnlineModel({ ...defaultModel, factorCount: K });
  for (const { user, item, value, time } of generateRatings(LEARNT)) {
    model.record(user, item, value, time);
  }
  factorize(model, { seed: 1, passes: 1, tolerance: 0 });
  const copy = (table: typeof model.items.vectors, slots: readonly number[]): Float32Array => {
    const all = new Float32Array(slots.length * K);
    slots.forEach((slot, nth) => {
      table.read(slot, all.subarray(nth * K, (nth + 1) * K));
    });
    return all;
  };
  const items = [...model.items.slots()].slice(0, LEARNT_ITEMS);
  if (items.length < LEARNT_ITEMS) throw new Error(`only ${items.length} items were rated`);
  return {
    vectors: copy(model.items.vectors, items),
    queries: copy(model.users.vectors, [...model.users.slots()].slice(0, QUERIES)),
  };
}
