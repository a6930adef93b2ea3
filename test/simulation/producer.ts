/** A stream in which everything happens: ratings, re-ratings, un-ratings, forgetting, late and stray records. */
import { shardOf } from '@freshet/events';
import type { Random } from '@freshet/model';
import { ids, PARTITIONS } from './simulated-model.ts';
import type { World } from './world.ts';

export async function produceSomething(world: World, random: Random, time: number): Promise<void> {
  const user = pick(random, ids.user);
  const home = shardOf(user, PARTITIONS);
  const isStray = random.next() < 0.25 && world.weather.strays;
  const partition = isStray ? 1 - home : home;
  const late = random.next() < 0.2 ? 20 : 0;
  const rating = {
    user,
    item: pick(random, ids.item),
    value: random.next() < 0.15 ? null : 1 + random.below(5),
    time: time - late,
  };
  const forgets = random.next() < world.weather.forgets;
  const value = forgets ? null : Buffer.from(JSON.stringify(rating));
  await world.produce({ partition, key: user, value });
}

function pick(random: Random, choices: readonly string[]): string {
  return choices[random.below(choices.length)] ?? '';
}
