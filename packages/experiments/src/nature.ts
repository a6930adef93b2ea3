/**
 * What kind of world is generated? `movieLens` has the statistics of MovieLens-1M, in which a few
 * items are rated by nearly everybody. In `strands` a category has several kinds of items, as crime
 * has heists and courtrooms; people come for one kind, and popularity is milder. There a person
 * watching can see a list follow somebody's taste.
 */
import { categories } from './titles.ts';

export interface Nature {
  /** How many categories there are. */
  readonly categories: number;
  /** Kinds of items within a category. */
  readonly strands: number;
  /** Of the law of popularity: the steeper, the more the ratings go to few items. */
  readonly popularitySlope: number;
  /** Chance of a second category, and of a third for those that have a second. */
  readonly anotherCategory: readonly number[];
  /** σ of the log of a user's weight for a category. */
  readonly tasteSharpness: number;
  /** σ of the log of a user's weight for a strand beside that for its category. */
  readonly strandSharpness: number;
}

export const natures = {
  movieLens: {
    categories: categories.length,
    strands: 1,
    // Steeper than MovieLens-1M's own counts: nobody rates an item twice, which flattens the head.
    popularitySlope: 3.4,
    anotherCategory: [0.5, 0.25],
    tasteSharpness: 1.6,
    strandSharpness: 0,
  },
  strands: {
    // 8 · 4 tastes: as many as the default model has factors to tell them apart.
    categories: 8,
    strands: 4,
    popularitySlope: 0.5,
    anotherCategory: [0.1],
    tasteSharpness: 0.5,
    strandSharpness: 1.6,
  },
} as const satisfies Record<string, Nature>;
