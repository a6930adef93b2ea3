/**
 * The items of a generated world, each with a title, one to three categories, a popularity and a
 * quality. Tastes are for categories: whoever likes one rates items of it, so that a person who
 * watches can see whether a recommendation makes sense.
 */
import { hashId, Random } from '@freshet/model';
import { type Nature, natures } from './nature.ts';
import { categories, titleOf } from './titles.ts';

export interface CatalogueItem {
  readonly id: string;
  readonly title: string;
  readonly categories: readonly string[];
  /** The strand of its first category that the item belongs to. */
  readonly strand: number;
}

interface CatalogueOptions {
  readonly items?: number;
  readonly seed?: number;
  readonly nature?: keyof typeof natures;
}

/** What the generator knows of an item. The catalogue shows only its title and categories. */
export interface ItemTraits {
  /** category · strands + strand, for each category of the item, the main one first. */
  readonly shelves: readonly number[];
  readonly popularity: number;
  readonly quality: number;
}

/** Popularity of rank r ∝ (1 + r / (knee · items))^−slope: a Zipf tail with a flat head. */
const POPULARITY_KNEE = 0.15;

export function itemId(index: number): string {
  return `i${index + 1}`;
}

/** Draws the same items for the same arguments, because ratings and catalogue must agree. */
export function drawItems(items: number, seed: number, nature: Nature): ItemTraits[] {
  const random = new Random(hashId('items', seed));
  const ranks = Uint32Array.from({ length: items }, (_, index) => index);
  random.shuffle(ranks);
  const ofCategory = new Array<number>(nature.categories).fill(0);
  return Array.from({ length: items }, (_, index) => {
    // The first items take the categories in turn, so that none is empty in a small world.
    const genres = [index < nature.categories ? index : random.below(nature.categories)];
    for (const chance of nature.anotherCategory) {
      if (random.next() >= chance) break;
      const other = random.below(nature.categories);
      if (!genres.includes(other)) genres.push(other);
    }
    const quality = random.normal();
    // The rank is random; good items are then a little more popular.
    const popularity =
      (1 + ranks[index] / (POPULARITY_KNEE * items)) ** -nature.popularitySlope *
      Math.exp(0.35 * quality);
    const strand = ofCategory[genres[0]]++ % nature.strands;
    const shelves = genres.map((genre) => genre * nature.strands + strand);
    return { shelves, popularity, quality };
  });
}

export function generateCatalogue(options: CatalogueOptions = {}): CatalogueItem[] {
  const { items = 500, seed = 1 } = options;
  const nature = natures[options.nature ?? 'movieLens'];
  const titled = new Array<number>(nature.categories).fill(0);
  return drawItems(items, seed, nature).map(({ shelves }, index) => {
    const genres = shelves.map((shelf) => Math.floor(shelf / nature.strands));
    const main = genres[0];
    const nth = titled[main];
    titled[main] = nth + 1;
    return {
      id: itemId(index),
      title: titleOf(main, nth),
      categories: genres.map((genre) => categories[genre]),
      strand: shelves[0] % nature.strands,
    };
  });
}
