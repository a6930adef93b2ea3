/**
 * How much faster than the baseline is an exact top 10 of vectors of 50 factors, in one thread?
 * Searches random vectors of log-normal norms, of which least can be pruned; learnt factors; and
 * the rows of a scorer by its queries. Both sides search the same vectors and count CPU time.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Search, wasmKernels } from '@freshet/kernels';
import type { Figure } from './main.ts';
import { bestTurns, cpuSecondsPerQuery } from './measuring.ts';
import { type Baseline, naiveBaseline, numpyBaseline } from './score/baseline.ts';
import {
  type Fixture,
  learntFixture,
  learntModel,
  QUERIES,
  randomFixture,
  rankedFixture,
} from './score/fixture.ts';

const TURNS = 3;

export async function bench(figure: Figure): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'freshet-score-'));
  const baseline = (await numpyBaseline(scratch)) ?? naiveBaseline();
  try {
    process.stdout.write(`# baseline ${baseline.name}\n`);
    const many = randomFixture(1_000_000);
    const few = { ...many, vectors: many.vectors.subarray(0, 100_000 * many.k) };
    await compare(figure, baseline, '100k', few, ['single', 'batch']);
    await compare(figure, baseline, '1m', many, ['single']);
    const model = learntModel();
    await compare(figure, baseline, 'learnt', learntFixture(model), ['single']);
    await compare(figure, baseline, 'ranked', rankedFixture(model), ['single']);
  } finally {
    await baseline.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function compare(
  figure: Figure,
  baseline: Baseline,
  label: string,
  fixture: Fixture,
  kinds: readonly ('single' | 'batch')[],
): Promise<void> {
  await baseline.load(fixture.vectors, fixture.queries, fixture.k);
  const ours = searcher(fixture);
  for (const kind of kinds) {
    const name = kind === 'single' ? 'score' : 'score_batch';
    const [best, theirs] = await bestTurns(TURNS, ours, () => baseline.turn(kind));
    figure(`${name}_rate_${label}`, 1 / best, 'queries per CPU-second');
    figure(`${name}_baseline_rate_${label}`, 1 / theirs, 'queries per CPU-second');
    figure(`${name}_speedup_${label}`, theirs / best, 'times');
  }
}

/** Returns what takes one turn of ours and tells its CPU-seconds per query. */
function searcher({ k, vectors, queries, asked }: Fixture) {
  const kernels = wasmKernels();
  const table = kernels.rankedTable(k);
  for (let at = 0; at < vectors.length; at += k) {
    table.write(table.add(), vectors.subarray(at, at + k));
  }
  for (const search of searchesOf(asked, k)) kernels.search(search, table);
  if (asked.length > 0) table.rebase();
  table.migrate(table.size);
  const searches = searchesOf(queries, k);
  return () =>
    cpuSecondsPerQuery(1, (nth) => kernels.search(searches[nth % QUERIES] as Search, table));
}

function searchesOf(queries: Float32Array, k: number): Search[] {
  return Array.from({ length: queries.length / k }, (_, nth): Search => {
    const best = { length: 0, slots: new Uint32Array(10), scores: new Float32Array(10) };
    const query = queries.subarray(nth * k, (nth + 1) * k);
    return { query, excluded: [], best, tied: false };
  });
}
