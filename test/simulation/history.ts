/** One history: a seed decides what happens, and the oracle says what is wrong at the end. */
import { Random } from '@freshet/model';
import { MemoryStore } from '@freshet/store';
import { wrongWith } from './oracle.ts';
import { produceSomething } from './producer.ts';
import type { Sabotage } from './sabotage.ts';
import { pass, startTime, stopTime } from './simulated-time.ts';
import type { Weather } from './weather.ts';
import { World, type WorldOptions } from './world.ts';

const STEPS = 100;
/** Nothing is produced in the last steps. Faults that happen then must be noticed all the same. */
const QUIET_STEPS = 12;
const QUIET_MS = 200;

/** Longer than the longest pause between two retries. */
const PATIENCE_MS = 12_000;

interface History {
  readonly world: World;
  readonly memory: MemoryStore;
}

/** Runs a world through its weather and heals it; `look` sees it before time is real again. */
export async function live<T>(
  seed: number,
  options: WorldOptions,
  look: (history: History) => Promise<T>,
): Promise<T> {
  stopTime();
  try {
    const random = new Random(seed);
    const memory = new MemoryStore();
    const world = await World.begin(seed + 1, memory, options);
    for (let step = 0; step < STEPS; step++) {
      const isMore = random.next() < 0.7 && step < STEPS - QUIET_STEPS;
      if (isMore) await produceSomething(world, random, step);
      await world.step();
      if (step >= STEPS - QUIET_STEPS) await pass(QUIET_MS);
    }
    await world.heal();
    return await look({ world, memory });
  } finally {
    startTime();
  }
}

export function violations(
  seed: number,
  weather: Weather,
  sabotage: Sabotage = {},
): Promise<string[]> {
  return live(seed, { weather, sabotage }, async ({ world, memory }) => {
    const wrong = await wrongWith(world, memory);
    if (wrong.length === 0) return [];
    // Replicas back off between retries, and nothing else says when they have finished.
    await pass(PATIENCE_MS);
    return wrongWith(world, memory);
  });
}
