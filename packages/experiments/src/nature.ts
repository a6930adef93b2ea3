/**
 * The kinds of world that can be generated. `movieLens` has the statistics of MovieLens-1M, where
 * nearly everybody rates the same few items. In `strands` users prefer some kinds of a category, as
 * of crime heists or courtrooms, so that one can watch a list follow a taste.
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
