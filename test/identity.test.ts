/**
 * With the other side and the grams held still, a shard is the log's and nothing else's: after any
 * crashes, zombies, lost writes and batch boundaries its vectors are, byte for byte, those of one plain
 * replay through the model.
 */
import { type Side, sides } from '@freshet/events';
import { Gram, Random } from '@freshet/model';
import type { MemoryStore } from '@freshet/store';
import { describe, expect, it } from 'vitest';
import { live } from './simulation/history.ts';
import { bytesOf, replay } from './simulation/replay.ts';
import { ids, PARTITIONS, settings } from './simulation/simulated-model.ts';
import type { Pinned } from './simulation/simulated-process.ts';
import { storm } from './simulation/weather.ts';

const SEEDS = 60;

function pinnedWorld(random: Random): Pinned {
  const k = settings.factorCount;
  const grams = { user: Gram.zero(k), item: Gram.zero(k), ratings: 20 };
  const vectors: Record<Side, Map<string, Float32Array>> = { user: new Map(), item: new Map() };
  for (const side of sides) {
    for (const id of ids[side]) {
      const vector = Float32Array.from({ length: k }, () => random.normal());
      vectors[side].set(id, vector);
      grams[side].move(undefined, vector);
    }
  }
  return { grams, vectors };
}

async function storedVectors(store: MemoryStore, side: Side): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let shard = 0; shard < PARTITIONS; shard++) {
    for await (const [id, { vector }] of store.vectors({ side, shard })) {
      if (vector.length > 0) found.set(id, bytesOf(vector));
    }
  }
  return found;
}

describe('a shard replayed against a pinned other side and pinned grams', {
  timeout: 120_000,
}, () => {
  it.each(sides)(
    'has the same bytes on the %s side, whatever happened on the way',
    async (side) => {
      let compared = 0;
      for (let seed = 0; seed < SEEDS; seed++) {
        const pinned = pinnedWorld(new Random(seed));
        const expected = await live(seed, { weather: storm, pinned }, async ({ world, memory }) => {
          const replayed = replay(world.log, side, pinned);
          expect(await storedVectors(memory, side), `seed ${seed}`).toEqual(replayed);
          return replayed;
        });
        compared += expected.size;
      }
      expect(compared).toBeGreaterThan(SEEDS);
    },
  );
});
