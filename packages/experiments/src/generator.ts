/**
 * Generates a stream of ratings where no real one may be used. Tastes are mixtures of categories
 * and drift, the popularity of items follows a Zipf law, users rate in bursts with a mood that
 * lasts, items are released over time, and people often rate the parts of a series in turn. Memory
 * holds only users who will still rate, and a rating costs a few draws in a world of any size.
 */
import { hashId, Random } from '@freshet/model';
import { AliasTable } from './alias-table.ts';
import { drawItems, type ItemTraits, itemId } from './catalogue.ts';
import { type Nature, natures } from './nature.ts';
import {
  burstLength,
  changeMood,
  changeTaste,
  createPerson,
  type Person,
  ratingsPerUser,
  valueGiven,
} from './person.ts';
import { drawSeries, NO_ITEM } from './series.ts';

/** One generated rating; time in ms. */
export interface GeneratedRating {
  readonly user: string;
  readonly item: string;
  readonly value: number;
  readonly time: number;
}

const defaults = {
  users: 1_000,
  items: 500,
  ratings: 50_000,
  seed: 1,
  /** What items and tastes are like. The catalogue must be generated with the same nature. */
  nature: 'movieLens' as keyof typeof natures,
  /** Share of the items that are released while the stream runs; the others exist at its start. */
  newItems: 0.2,
  /** How many users at least are in a burst at any moment. */
  concurrency: 24,
  /**
   * Chance that a user goes on with the next part of the series that her last rating belongs to. If
   * there is none, it is not released yet, or she has rated it, she chooses as usual.
   */
  sequences: 0.25,
  /** Time of the first rating, ms. */
  start: Date.UTC(2024, 0, 1),
};

export type GeneratorOptions = Readonly<Partial<typeof defaults>>;

/** Mean time from one rating of the stream to the next, in ms. */
const GAP_MS = 2_000;
/** Chance, after each rating, that one of the user's tastes is replaced by another. */
const TASTE_DRIFT = 0.003;

const browsing = {
  followsReleases: 0.08, // share of ratings that go to something just released
  triesPerRating: 40, // draws before settling for any unrated item
} as const;

interface World {
  readonly items: readonly ItemTraits[];
  /** The order of release: items[released[r]] is the r-th. */
  readonly released: Uint32Array;
  readonly rankOf: Uint32Array;
  readonly byShelf: readonly { readonly items: Uint32Array; readonly draw: AliasTable }[];
  /** By item: the next part of its series, or NO_ITEM. */
  readonly nextPart: Int32Array;
}

export function* generateRatings(options: GeneratorOptions = {}): Generator<GeneratedRating, void> {
  const settings = { ...defaults, ...options };
  refuseNonsense(settings);
  const random = new Random(hashId('ratings', settings.seed));
  const nature = natures[settings.nature];
  const world = createWorld(settings, nature, random);
  const atStart = Math.max(1, Math.round(settings.items * (1 - settings.newItems)));
  const budget = ratingsPerUser(settings, random);
  const active: { person: Person; left: number }[] = [];
  const away: Person[] = [];
  let arrived = 0;
  let time = settings.start;

  const arrive = () => {
    const person = createPerson(arrived, budget[arrived], nature, random);
    arrived++;
    active.push({ person, left: burstLength(person, true, random) });
  };
  for (let emitted = 0; emitted < settings.ratings; emitted++) {
    const isDue = arrived < budget.length && emitted * budget.length >= arrived * settings.ratings;
    if (isDue) arrive();
    // A user who has just arrived rates at once, so that every user has rated by the end.
    const newest = active.length - 1;
    while (active.length < settings.concurrency && (away.length > 0 || arrived < budget.length)) {
      const person = take(away, random);
      if (person) active.push({ person, left: burstLength(person, false, random) });
      else arrive();
    }
    const slot = isDue ? newest : random.below(active.length);
    const burst = active[slot];
    const { person } = burst;
    const out = atStart + Math.floor(((settings.items - atStart) * emitted) / settings.ratings);
    // With `sequences: 0` nothing is drawn here: the stream is that of a world without series.
    const followsSeries = settings.sequences > 0 && random.next() < settings.sequences;
    const item =
      (followsSeries ? continueSeries(world, person, out) : undefined) ??
      choose(world, person, out, random);
    person.last = item;
    yield {
      user: `u${person.id + 1}`,
      item: itemId(item),
      value: valueGiven(person, world.items[item], random),
      time,
    };
    if (random.next() < TASTE_DRIFT) changeTaste(person, nature, random);
    time += Math.round(exponential(GAP_MS, random));
    person.left--;
    burst.left--;
    if (burst.left === 0) {
      active[slot] = active[active.length - 1];
      active.pop();
      if (person.left > 0) away.push(person);
    }
  }
}

function refuseNonsense(settings: typeof defaults): void {
  if (!(settings.sequences >= 0 && settings.sequences <= 1)) {
    throw new RangeError(`sequences must be a chance from 0 to 1: ${settings.sequences}`);
  }
  for (const name of ['users', 'items', 'ratings', 'concurrency'] as const) {
    const least = name === 'ratings' ? 0 : 1;
    if (!Number.isInteger(settings[name]) || settings[name] < least) {
      throw new RangeError(
        `${name} must be a whole number of at least ${least}: ${settings[name]}`,
      );
    }
  }
}

function createWorld(settings: typeof defaults, nature: Nature, random: Random): World {
  const { items: count, seed } = settings;
  const items = drawItems(count, seed, nature);
  const released = Uint32Array.from({ length: count }, (_, index) => index);
  random.shuffle(released);
  const rankOf = new Uint32Array(count);
  for (let rank = 0; rank < count; rank++) rankOf[released[rank]] = rank;
  const byShelf = Array.from({ length: nature.categories * nature.strands }, (_, shelf) => {
    const members: number[] = [];
    const weights: number[] = [];
    for (let index = 0; index < count; index++) {
      const place = items[index].shelves.indexOf(shelf);
      if (place < 0) continue;
      members.push(index);
      weights.push(items[index].popularity / (1 + place));
    }
    // With fewer items than shelves some shelves are empty: these hold all items instead.
    if (members.length === 0) members.push(...items.keys());
    if (weights.length === 0) weights.push(...items.map(({ popularity }) => popularity));
    return { items: Uint32Array.from(members), draw: new AliasTable(weights) };
  });
  return { items, released, rankOf, byShelf, nextPart: drawSeries(items, rankOf) };
}

function take(away: Person[], random: Random): Person | undefined {
  if (away.length === 0) return undefined;
  const index = random.below(away.length);
  const person = away[index];
  away[index] = away[away.length - 1];
  away.pop();
  return person;
}

/** The next part of the series of the item rated last, if there is one that can be rated now. */
function continueSeries(
  { nextPart, rankOf }: World,
  person: Person,
  released: number,
): number | undefined {
  const next = person.last === NO_ITEM ? NO_ITEM : nextPart[person.last];
  if (next === NO_ITEM || rankOf[next] >= released || person.rated.has(next)) return undefined;
  return remember(person, next);
}

function choose(world: World, person: Person, released: number, random: Random): number {
  changeMood(person, random);
  const shelf = world.byShelf[person.mood];
  for (let attempt = 0; attempt < browsing.triesPerRating; attempt++) {
    let item = shelf.items[shelf.draw.draw(random)];
    if (random.next() < browsing.followsReleases) {
      // Exponentially distributed: mostly one of the last few releases, sometimes an older one.
      const back = Math.floor(exponential(0.01 * world.items.length, random));
      const recent = world.released[Math.max(0, released - 1 - back)];
      if (world.items[recent].shelves.includes(person.mood)) item = recent;
    }
    if (world.rankOf[item] < released && !person.rated.has(item)) return remember(person, item);
  }
  // A user who has rated nearly everything takes any item, and rates it again if need be.
  const from = random.below(released);
  for (let step = 0; step < Math.min(released, 64); step++) {
    const item = world.released[(from + step) % released];
    if (!person.rated.has(item)) return remember(person, item);
  }
  return world.released[from];
}

function remember(person: Person, item: number): number {
  person.rated.add(item);
  return item;
}

function exponential(mean: number, random: Random): number {
  return -mean * Math.log(1 - random.next());
}
