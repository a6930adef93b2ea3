/**
 * The kinds of world that can be generated. `movieLens` has the statistics of MovieLens-1M, in
 * which nearly everybody rates the same few items. In `strands` a category has several kinds of
 * items, as crime has heists and courtrooms; each user prefers some of them, and popularity matters
 * less, so that a person who watches can see a list follow somebody's taste.
 */
import { categories } from './titles.ts';

export interface Nature {
  readonly categories: number;
  readonly strands: number;
  /** Slope of the law of popularity: the steeper, the more ratings go to the same few items. */
  readonly popularitySlope: number;
  /** Chance that an item has a second category, and that one with a second has a third. */
  readonly anotherCategory: readonly number[];
  /** σ of the log of a user's weight for a category. */
  readonly tasteSharpness: number;
  /** σ of the log of a user's weight for a strand, which multiplies that for its category. */
  readonly strandSharpness: number;
}

export const natures = {
  movieLens: {
    categories: categories.length,
    strands: 1,
    // Steeper than the counts of MovieLens-1M: nobody rates an item twice, which flattens the head.
    popularitySlope: 3.4,
    anotherCategory: [0.5, 0.25],
    tasteSharpness: 1.6,
    strandSharpness: 0,
  },
  strands: {
    // 8 · 4 tastes: as many as the default model has factors.
    categories: 8,
    strands: 4,
    popularitySlope: 0.5,
    anotherCategory: [0.1],
    tasteSharpness: 0.5,
    strandSharpness: 1.6,
  },
} as const satisfies Record<string, Nature>;
