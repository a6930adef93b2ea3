/**
 * With the other side and the grams held still, a shard is the log's and nothing else's: after any
 * crashes, zombies, lost writes and batch boundaries its vectors are, byte for byte, those of one plain
 * replay through the model.
 */
import { type Side, sides } from '@freshet/events';
import { Gram, Random } from '@freshet/model';
import { MemoryStore } from '@freshet/store';
import { describe, expect, it } from 'vitest';
import { produceSomething } from './simulation/producer.ts';
import { bytesOf, replay } from './simulation/replay.ts';
import { PARTITIONS, type Pinned, settings, World } from './simulation/world.ts';

const SEEDS = 60;
const STEPS = 150;

function pinnedWorld(random: Random): Pinned {
  const k = settings.factorCount;
  const grams = { user: Gram.zero(k), item: Gram.zero(k), ratings: 20 };
  const vectors: Record<Side, Map<string, Float32Array>> = { user: new Map(), item: new Map() };
  for (const side of sides) {
    for (let index = 0; index < 6; index++) {
      const vector = Float32Array.from({ length: k }, () => random.normal());
      vectors[side].set(`${side[0]}${index}`, vector);
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
        const random = new Random(seed);
        const pinned = pinnedWorld(random);
        const memory = new MemoryStore();
        const world = new World(seed + 1, memory, {}, pinned);
        for (let step = 0; step < STEPS; step++) {
          if (random.next() < 0.6) await produceSomething(world, random, 1000 + step);
          await world.step();
        }
        await world.heal();
        const expected = replay(world.log, side, pinned);
        expect(await storedVectors(memory, side), `seed ${seed}`).toEqual(expected);
        compared += expected.size;
      }
      expect(compared).toBeGreaterThan(SEEDS);
    },
  );
});
