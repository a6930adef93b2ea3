/**
 * The people of a generated world. Each has a mixture of tastes and a mood, gives a log-normal
 * number of ratings in bursts, and values an item by its quality, the tastes, leniency and chance.
 */
import type { Random } from '@freshet/model';
import type { ItemTraits } from './catalogue.ts';
import type { Nature } from './nature.ts';
import { NO_ITEM } from './series.ts';

/** Chosen so that a world of ML-1M's size has ML-1M's statistics (see the generator's test). */
const habits = {
  moodLasts: 0.8, // chance that the next rating is from the same shelf as the last
  firstBurst: 0.7, // share of a user's ratings given on arrival, for those who come back at all
  comesBack: 0.4,
  activity: 1.2, // σ of the log-normal number of ratings per user
  leastActivity: 0.12, // of the mean: ML-1M keeps users with at least 20 of 166
  mostOfCatalogue: 0.62, // what the most active user of ML-1M has rated of it
} as const;

export interface Person {
  readonly id: number;
  /** Weight of each shelf, a strand of a category. */
  readonly tastes: Float64Array;
  readonly rated: Set<number>;
  readonly leniency: number;
  /** Ratings still to be given. */
  left: number;
  /** The shelf of the moment. */
  mood: number;
  /** The item rated last, or NO_ITEM. */
  last: number;
}

/**
 * How many ratings each user will give: log-normal, with a least share of the mean. The sum exceeds
 * the length of the stream, because otherwise only the most active users would be left at its end.
 */
export function ratingsPerUser(
  settings: Readonly<Record<'users' | 'items' | 'ratings' | 'concurrency', number>>,
  random: Random,
): Uint32Array {
  const users = Math.min(settings.users, settings.ratings);
  if (users === 0) return new Uint32Array(0);
  const mean = settings.ratings / users;
  const target = settings.ratings + 2 * settings.concurrency * mean;
  const least = Math.max(1, Math.floor(habits.leastActivity * mean));
  const most = Math.max(habits.mostOfCatalogue * settings.items, (2 * target) / users);
  const wish = Float64Array.from({ length: users }, () =>
    Math.exp(habits.activity * random.normal()),
  );
  const counts = new Uint32Array(users);
  // The limit for the most active users lowers the sum, so the scale is found by iteration.
  let scale = 0.5 * mean;
  for (let attempt = 0; attempt < 20; attempt++) {
    let sum = 0;
    for (let user = 0; user < users; user++) {
      counts[user] = Math.min(most, Math.ceil(least + scale * wish[user]));
      sum += counts[user];
    }
    if (sum >= target) break;
    scale *= (1.01 * target) / sum;
  }
  return counts;
}

export function createPerson(id: number, left: number, nature: Nature, random: Random): Person {
  const tastes = drawTastes(nature, random);
  const leniency = 0.4 * random.normal();
  const mood = draw(tastes, random);
  return { id, tastes, rated: new Set(), leniency, left, mood, last: NO_ITEM };
}

/** How many ratings a user gives in a row: most give all of theirs on arrival. */
export function burstLength(person: Person, isNew: boolean, random: Random): number {
  if (isNew && random.next() >= habits.comesBack) return person.left;
  const share = isNew ? habits.firstBurst : random.next();
  return Math.max(1, Math.min(person.left, Math.ceil(person.left * share)));
}

export function changeMood(person: Person, random: Random): void {
  if (random.next() >= habits.moodLasts) person.mood = draw(person.tastes, random);
}

/** 1 to 5, by the item's quality, the person's tastes and leniency, and chance. */
export function valueGiven(
  person: Person,
  { shelves, quality }: ItemTraits,
  random: Random,
): number {
  let total = 0;
  let best = 0;
  for (const taste of person.tastes) total += taste;
  for (const shelf of shelves) best = Math.max(best, person.tastes[shelf] / total);
  const liking = 0.6 * Math.log2(0.3 + best * person.tastes.length * 0.5);
  const value = 3.22 + 0.45 * quality + liking + person.leniency + 0.9 * random.normal();
  return Math.max(1, Math.min(5, Math.round(value)));
}

export function changeTaste(person: Person, nature: Nature, random: Random): void {
  const sharpness = Math.hypot(nature.tasteSharpness, nature.strandSharpness);
  const shelf = random.below(person.tastes.length);
  person.tastes[shelf] = Math.exp(sharpness * random.normal());
}

function drawTastes(nature: Nature, random: Random): Float64Array {
  const { categories, strands, tasteSharpness, strandSharpness } = nature;
  const tastes = new Float64Array(categories * strands);
  for (let category = 0; category < categories; category++) {
    const ofCategory = tasteSharpness * random.normal();
    for (let strand = 0; strand < strands; strand++) {
      const ofStrand = strands > 1 ? strandSharpness * random.normal() : 0;
      tastes[category * strands + strand] = Math.exp(ofCategory + ofStrand);
    }
  }
  return tastes;
}

function draw(weights: Float64Array, random: Random): number {
  let total = 0;
  for (const weight of weights) total += weight;
  let rest = random.next() * total;
  for (let index = 0; index < weights.length - 1; index++) {
    rest -= weights[index];
    if (rest < 0) return index;
  }
  return weights.length - 1;
}
