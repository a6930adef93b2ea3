import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from './random.ts';
import { RowStore } from './row-store.ts';
import { emptyRow } from './row-window.ts';

const SEED = 4_153;

interface Entry {
  slot: number;
  value: number;
  time: number;
}

function entries(store: RowStore, owner: number): Entry[] {
  return Array.from({ length: store.length(owner) }, (_, position) => ({
    slot: store.slotAt(owner, position),
    value: store.valueAt(owner, position),
    time: store.timeAt(owner, position),
  }));
}

const change = fc.record({
  owner: fc.nat(5),
  kind: fc.constantFrom('insert', 'insert', 'insert', 'remove', 'clear'),
  slot: fc.nat(1_000),
  time: fc.nat(50),
});

describe(`a row store (seed ${SEED})`, () => {
  it('holds what a list per row would hold, in order of time, whatever is done to it', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 400 }), (changes) => {
        const store = new RowStore(true);
        // From the first search on, the store filters searches.
        expect(store.find(0, 0)).toBe(-1);
        const lists: Entry[][] = Array.from({ length: 6 }, () => []);
        for (const { owner, kind, slot, time } of changes) {
          const list = lists[owner];
          if (kind === 'insert') {
            store.insert(owner, store.positionOf(owner, time), slot, slot / 4, time);
            const at = list.findLastIndex((entry) => entry.time <= time) + 1;
            list.splice(at, 0, { slot, value: slot / 4, time });
          } else if (kind === 'clear' && slot % 4 === 0) {
            store.clear(owner);
            list.length = 0;
          } else if (list.length > 0) {
            store.removeAt(owner, slot % list.length);
            list.splice(slot % list.length, 1);
          }
        }
        lists.forEach((list, owner) => {
          expect(entries(store, owner)).toEqual(list);
          expect([...store.entries(owner)]).toEqual(list);
          for (const { slot } of list) {
            expect(store.find(owner, slot)).toBe(list.findLastIndex((e) => e.slot === slot));
          }
          const found = new Set<number>();
          for (let slot = 0; slot < 2_000; slot++) {
            if (store.find(owner, slot) >= 0) found.add(slot);
          }
          expect(found).toEqual(new Set(list.map(({ slot }) => slot)));
        });
      }),
      { seed: SEED },
    );
  });

  it('keeps a row that outgrows any shared page', () => {
    const store = new RowStore(false);
    for (let i = 0; i < 50_000; i++) {
      store.insert(0, i, i, 1, 0);
      if (i % 100 === 0) store.insert(1, i / 100, i, 2, 0);
    }
    const row = emptyRow(50_000);
    row.length = 50_000;
    store.copyNewest(0, row);
    expect(row.slots).toEqual(Uint32Array.from({ length: 50_000 }, (_, i) => i));
    expect(store.length(1)).toBe(500);
  });

  it('needs at most 24 bytes per rating, time included, with rows as skewed as real ones', () => {
    const random = new Random(SEED);
    const users = new RowStore(true);
    const ratings = 200_000;
    for (let i = 0; i < ratings; i++) {
      // Squaring a uniform number gives a tenth of the owners a third of the ratings.
      const user = Math.floor(1_200 * random.next() ** 2);
      users.insert(user, users.length(user), random.below(740), 1, i);
    }
    expect(users.byteLength / ratings).toBeLessThanOrEqual(24);
  });
});
