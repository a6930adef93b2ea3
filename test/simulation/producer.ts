/** A stream in which everything happens: ratings, re-ratings, un-ratings, forgetting, late and stray records. */
import { shardOf } from '@freshet/events';
import type { Random } from '@freshet/model';
import { PARTITIONS, type World } from './world.ts';

/** A few users and items, so that everything collides: re-rating, un-rating, forgetting, strays. */
export async function produceSomething(world: World, random: Random, time: number): Promise<void> {
  const user = `u${random.below(5)}`;
  const home = shardOf(user, PARTITIONS);
  const partition = random.next() < 0.25 ? 1 - home : home;
  const late = random.next() < 0.2 ? 20 : 0;
  const rating = {
    user,
    item: `i${random.below(6)}`,
    value: random.next() < 0.15 ? null : 1 + random.below(5),
    time: time - late,
  };
  const forgets = random.next() < 0.06;
  const value = forgets ? null : Buffer.from(JSON.stringify(rating));
  await world.produce({ partition, key: user, value });
}
