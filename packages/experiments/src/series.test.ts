import { Random } from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { drawItems } from './catalogue.ts';
import { natures } from './nature.ts';
import { drawSeries, NO_ITEM } from './series.ts';

describe('series of items', () => {
  const items = drawItems(500, 3, natures.movieLens);
  const rankOf = Uint32Array.from(items.keys());
  new Random(9).shuffle(rankOf);
  const nextPart = drawSeries(items, rankOf);
  const continued = [...nextPart.entries()].filter(([, next]) => next !== NO_ITEM);

  it('have parts of the same main shelf, each released after the one before', () => {
    for (const [item, next] of continued) {
      expect(items[next]?.shelves[0]).toBe(items[item]?.shelves[0]);
      expect(rankOf[next]).toBeGreaterThan(rankOf[item] ?? 0);
    }
  });

  it('never join: no item is the next part of two others', () => {
    expect(new Set(continued.map(([, next]) => next)).size).toBe(continued.length);
  });

  it('take in nearly every item, so that most items have a next part', () => {
    // 5 of 6 parts, and a little less because the last series of a shelf may be short.
    expect(continued.length / items.length).toBeGreaterThan(0.75);
  });

  it('need more than one item', () => {
    const alone = drawItems(1, 3, natures.movieLens);
    expect([...drawSeries(alone, Uint32Array.of(0))]).toEqual([NO_ITEM]);
  });
});
