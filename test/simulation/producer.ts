/**
 * A stream with every kind of record: ratings, re-ratings, un-ratings, forgetting, late records and
 * some that are no ratings. A user's ratings lie on any partition of any topic, under any key.
 */
import type { Random } from '@freshet/model';
import { ids, sources } from './simulated-model.ts';
import type { World } from './world.ts';

/** The time stamp of the first record in the simulation's log. */
const START = 1_700_000_000_000;

export async function produceSomething(world: World, random: Random, step: number): Promise<void> {
  const topic = pick(random, Object.keys(sources));
  const partition = random.below(world.log.partitionsOf(topic));
  const user = pick(random, ids.user);
  const isLate = random.next() < 0.2;
  const rating = {
    user,
    item: pick(random, ids.item),
    value: random.next() < 0.15 ? null : 1 + random.below(5),
    time: START + step - (isLate ? 20 : 0),
  };
  const place = { topic, partition };
  if (random.next() < world.weather.forgets) {
    await world.log.append({ ...place, key: user, value: null });
  } else if (random.next() < 0.05) {
    await world.log.append({ ...place, key: user, value: Buffer.from('{"user":7') });
  } else {
    const value = Buffer.from(JSON.stringify(rating));
    await world.log.append({ ...place, key: rating.item, value });
  }
}

function pick(random: Random, choices: readonly string[]): string {
  return choices[random.below(choices.length)] ?? '';
}
