/** With a million items of 50 factors, when is a scorer ready, and how much memory does it need? */
import { untilReady } from '@freshet/local';
import { Random } from '@freshet/model';
import type { Figure } from '../main.ts';
import { residentBytes } from '../measuring.ts';
import type { BenchSystem } from '../pipeline/bench-system.ts';
import { StoreFilling } from '../store-filling.ts';

const ITEMS = 1_000_000;
const K = 50;
const MODEL = 'cold';
const LIMIT_MS = 120_000;
const SEED = 3;

export async function coldStart(figure: Figure, system: BenchSystem): Promise<void> {
  const { settings, local } = system;
  const store = await system.beginModel(MODEL, { ...settings, FACTOR_COUNT: K });
  const options = { factorCount: K, shards: settings.SHARDS };
  await (await StoreFilling.begin(store, options)).write('item', randomItems());
  const own = { MODEL, FACTOR_COUNT: String(K) };
  const aggregator = local.launch('aggregator', own);
  await untilReady(aggregator, settings.AGGREGATOR_ADMIN_PORT, LIMIT_MS);
  const began = performance.now();
  const scorer = local.launch('scorer', own);
  await untilReady(scorer, settings.SCORER_ADMIN_PORT, LIMIT_MS);
  figure('cold_start_seconds', (performance.now() - began) / 1_000, 's, 1 M items of 50 factors');
  const resident = residentBytes(scorer);
  const vectors = ITEMS * K * 4;
  figure('resident_mb', resident / 1e6, 'MB');
  figure('resident_ratio', (resident - 250e6) / vectors, "of the vectors' bytes beyond 250 MB");
}

function* randomItems() {
  const random = new Random(SEED);
  for (let n = 0; n < ITEMS; n++) {
    const vector = Float32Array.from({ length: K }, () => random.next() - 0.5);
    const count = 1 + random.below(10_000);
    yield { id: `item-${n}`, stored: { vector, figures: Float64Array.of(1, count, 0, 0, 3, 0) } };
  }
}
