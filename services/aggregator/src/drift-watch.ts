/**
 * Measures rounding errors: how far has a stored partial gram, to which vectors were added and from
 * which they were retracted for months, drifted from the sum of the stored vectors? One shard every
 * ten seconds. A shard that commits during its measurement is skipped until its next turn.
 */
import assert from 'node:assert';
import type { ModelShape } from '@freshet/events';
import { Gram, ShardSums, weightIn } from '@freshet/model';
import { type FactorStore, type ShardId, shardIds } from '@freshet/store';
import { type Log, metrics } from '@freshet/telemetry';

interface DriftOptions extends ModelShape {
  readonly store: FactorStore;
  readonly log: Log;
}

const INTERVAL_MS = 10_000;

export class DriftWatch {
  #next = 0;
  #timer: NodeJS.Timeout;
  #closed = false;
  #measuring: Promise<void> = Promise.resolve();

  constructor(private readonly options: DriftOptions) {
    this.#timer = this.#schedule();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#measuring;
  }

  #schedule(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#measuring = this.#measure()
        .catch((error: unknown) => {
          const what = 'the drift of a partial gram was not measured: trying the next shard';
          this.options.log.warn({ err: error }, what);
        })
        .then(() => {
          if (!this.#closed) this.#timer = this.#schedule();
        });
    }, INTERVAL_MS).unref();
  }

  async #measure(): Promise<void> {
    const { shards, store, factorCount } = this.options;
    const ids = shardIds(shards);
    const id = ids[this.#next++ % ids.length];
    assert(id !== undefined, 'a model has shards');
    const drift = await gramDrift(store, id, factorCount);
    if (drift !== undefined) metrics.gramDrift.set({ side: id.side }, drift);
  }
}

/** max|ΔS| / max|S| of one shard; undefined if it is empty or committed meanwhile. */
export async function gramDrift(
  store: FactorStore,
  id: ShardId,
  factorCount: number,
): Promise<number | undefined> {
  const { sums, commit } = await store.inspect(id);
  if (sums === null) return undefined;
  const fresh = Gram.zero(factorCount);
  const seen = new Set<string>();
  for await (const [name, { vector, figures }] of store.vectors(id)) {
    if (vector.length === 0 || seen.has(name)) continue;
    seen.add(name);
    fresh.move(undefined, vector, { before: 1, after: weightIn(figures) });
  }
  if ((await store.head(id)).commit !== commit) return undefined;
  const { gram: stored } = ShardSums.fromBytes(id.side, sums, factorCount);
  let [largest, difference] = [Number.MIN_VALUE, 0];
  stored.matrix.forEach((cell, at) => {
    largest = Math.max(largest, Math.abs(cell));
    const other = fresh.matrix[at];
    assert(other !== undefined, 'both grams have k × k cells');
    difference = Math.max(difference, Math.abs(cell - other));
  });
  return difference / largest;
}
