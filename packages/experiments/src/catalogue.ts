/**
 * What is there to rate in a generated world? Items with a title, one to three categories, a
 * popularity and a quality. Categories are the dimensions of taste: whoever loves one rates items
 * of it, so a person watching can see whether a recommendation makes sense.
 */
import { hashId, Random } from '@freshet/model';
import { categories, titleOf } from './titles.ts';

export interface CatalogueItem {
  readonly id: string;
  readonly title: string;
  readonly categories: readonly string[];
}

export interface CatalogueOptions {
  readonly items?: number;
  readonly seed?: number;
}

/** How an item behaves in the generator; the catalogue shows only its name and categories. */
export interface ItemTraits {
  /** Indices into `categories`, the main one first. */
  readonly genres: readonly number[];
  readonly popularity: number;
  readonly quality: number;
}

/**
 * Popularity of rank r ∝ (1 + r / (knee · items))^−slope: a Zipf tail with a flat head. Steeper
 * than MovieLens-1M's own counts, because nobody rates an item twice, which flattens the head
 * again.
 */
const popularityLaw = { knee: 0.15, slope: 3.4 } as const;

/** A second category is common, a third rare. */
const anotherCategory = [0.5, 0.25] as const;

export function itemId(index: number): string {
  return `i${index + 1}`;
}

/** The same for the same seed and count, whoever asks: ratings and catalogue must agree. */
export function drawItems(items: number, seed: number): ItemTraits[] {
  const random = new Random(hashId('items', seed));
  const ranks = Uint32Array.from({ length: items }, (_, index) => index);
  random.shuffle(ranks);
  return Array.from({ length: items }, (_, index) => {
    // The first items go round the categories, so that none is empty in a small world.
    const genres = [index < categories.length ? index : random.below(categories.length)];
    for (const chance of anotherCategory) {
      if (random.next() >= chance) break;
      const other = random.below(categories.length);
      if (!genres.includes(other)) genres.push(other);
    }
    const quality = random.normal();
    // Good items are rated more: rank by luck, then let quality move the popularity a little.
    const popularity =
      (1 + ranks[index] / (popularityLaw.knee * items)) ** -popularityLaw.slope *
      Math.exp(0.35 * quality);
    return { genres, popularity, quality };
  });
}

export function generateCatalogue(options: CatalogueOptions = {}): CatalogueItem[] {
  const { items = 500, seed = 1 } = options;
  const titled = new Array<number>(categories.length).fill(0);
  return drawItems(items, seed).map(({ genres }, index) => {
    const main = genres[0];
    const nth = titled[main];
    titled[main] = nth + 1;
    return {
      id: itemId(index),
      title: titleOf(main, nth),
      categories: genres.map((genre) => categories[genre]),
    };
  });
}
