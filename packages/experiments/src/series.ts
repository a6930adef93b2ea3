/**
 * Which item continues which? Items form series: the parts of a film series, or the episodes of a
 * show. The parts of one series share their main shelf and are about equally popular, because
 * whoever rates one often rates the next. They are released one after the other.
 */
import type { ItemTraits } from './catalogue.ts';

/** Parts of a series. The last series of a shelf may have fewer. */
const PARTS = 6;
/** Marks the last part of a series, and a person who has not rated anything yet. */
export const NO_ITEM = -1;

/** For each item the next part of its series, or NO_ITEM. `rankOf` is the order of release. */
export function drawSeries(items: readonly ItemTraits[], rankOf: Uint32Array): Int32Array {
  const shelves = new Map<number, number[]>();
  items.forEach(({ shelves: [main] }, item) => {
    const shelf = shelves.get(main);
    if (shelf) shelf.push(item);
    else shelves.set(main, [item]);
  });
  const nextPart = new Int32Array(items.length).fill(NO_ITEM);
  for (const shelf of shelves.values()) {
    shelf.sort((a, b) => items[b].popularity - items[a].popularity);
    for (let from = 0; from < shelf.length; from += PARTS) {
      const parts = shelf.slice(from, from + PARTS).sort((a, b) => rankOf[a] - rankOf[b]);
      for (let nth = 1; nth < parts.length; nth++) nextPart[parts[nth - 1]] = parts[nth];
    }
  }
  return nextPart;
}
