/** Do predecessor lists hold the right counts, and do they agree with their inverted index? */

import { wasmKernels } from '@freshet/kernels';
import { describe, expect, it } from 'vitest';
import { NextContext } from './next-context.ts';
import { PredecessorTable } from './predecessor-table.ts';
import { isDue, itemKey, Predecessors, rootOf } from './predecessors.ts';
import { slotsOf } from './raised-items.ts';
import { Random } from './random.ts';
import { Successors } from './successors.ts';

const SEED = 20_261_117;

function countsOf({ keys, counts, length }: Predecessors): Map<number, number> {
  return new Map(Array.from({ length }, (_, e) => [keys[e], counts[e]]));
}

function countPlainly(list: { key: number; count: number }[], before: readonly number[]): void {
  for (const entry of list) entry.count = Math.fround(entry.count * 2 ** (-1 / 100));
  before.forEach((key, back) => {
    let weight = 1;
    for (let step = 0; step < back; step++) weight *= 0.8;
    const known = list.find((entry) => entry.key === key);
    if (known !== undefined) known.count = Math.fround(known.count + weight);
    else if (list.length < 64) list.push({ key, count: Math.fround(weight) });
    else {
      const least = list.reduce((best, entry) => (entry.count < best.count ? entry : best));
      least.count = Math.fround(least.count - weight);
      if (least.count <= 0) Object.assign(least, { key, count: Math.fround(weight) });
    }
  });
}

describe('a list of predecessors', () => {
  it('counts five items before a rating, each further one back less', () => {
    const list = Predecessors.empty();
    list.count([1, 2, 3, 4, 5]);
    const found = countsOf(list);
    [1, 0.8, 0.64, 0.512, 0.4096].forEach((count, back) => {
      expect(found.get(back + 1)).toBeCloseTo(count, 6);
    });
  });

  it('lets counts fade by half in 100 ratings of its owner', () => {
    const list = Predecessors.empty();
    list.count([7]);
    for (let rating = 0; rating < 100; rating++) list.count([]);
    expect(countsOf(list).get(7)).toBeCloseTo(0.5, 4);
  });

  it('holds 64 at most: a newcomer takes the place of the least once that is used up', () => {
    const list = Predecessors.empty();
    for (let key = 1; key <= 64; key++) list.count([key]);
    list.count([5]);
    list.count([100]);
    expect(countsOf(list).has(100)).toBe(true);
    expect(countsOf(list).has(1)).toBe(false);
    expect(list.length).toBe(64);
    expect(list.toBytes().length).toBe(512);
    for (let rating = 0; rating < 500; rating++) list.count([5, 6]);
    list.count([101]);
    expect([...countsOf(list).keys()]).toEqual(expect.arrayContaining([5, 6]));
    expect(Math.min(...countsOf(list).values())).toBeGreaterThan(0);
  });

  it(`counts to the bit as its definition does, step by step (seed ${SEED})`, () => {
    const random = new Random(SEED);
    const list = Predecessors.empty();
    const plain: { key: number; count: number }[] = [];
    for (let rating = 0; rating < 5_000; rating++) {
      // Some keys occur twice, as if two items shared a key; some differ only in their first bits.
      const before = Array.from({ length: random.below(6) }, () => {
        return random.below(random.next() < 0.5 ? 20 : 150) * (random.next() < 0.1 ? 2 ** 20 : 1);
      });
      countPlainly(plain, before);
      list.count(before);
      const kept = Array.from({ length: list.length }, (_, e) => {
        return { key: list.keys[e], count: list.counts[e] };
      });
      expect(kept).toEqual(plain);
    }
    expect(plain).toHaveLength(64);
  });

  it('takes back what a rating added, and drops what nothing is left of', () => {
    const list = Predecessors.empty();
    list.count([1, 2]);
    list.count([1]);
    list.takeBack([1, 2]);
    expect([...countsOf(list).keys()]).toEqual([1]);
    list.takeBack([1, 9]);
    expect(list.length).toBe(0);
  });

  it('comes back from its bytes, and refuses bytes that no list has', () => {
    const list = Predecessors.empty();
    for (let key = 0; key < 40; key++) list.count([key, key + 1]);
    const bytes = list.toBytes();
    expect(Predecessors.fromBytes(bytes).toBytes()).toEqual(bytes);
    expect(() => Predecessors.fromBytes(new Uint8Array(12))).toThrow(RangeError);
    expect(() => Predecessors.fromBytes(new Uint8Array(520))).toThrow(RangeError);
  });

  it('is told with each of the first ratings, then each time that they have grown by a twentieth', () => {
    const due = Array.from({ length: 10_000 }, (_, n) => n).filter(isDue);
    expect(due.filter((n) => n <= 20)).toHaveLength(20);
    for (let at = 1; at < due.length; at++) {
      expect(due[at]).toBeLessThanOrEqual(Math.ceil(1.05 * due[at - 1]) + 1);
    }
    expect(due.length).toBeLessThan(200);
  });

  it('goes by 1 / √(n̂ + 5), n̂ = Σ 2^(−age/100) over the ratings of its owner', () => {
    for (const n of [0, 1, 17, 400, 5_000]) {
      let faded = 0;
      for (let age = 0; age < n; age++) faded += 2 ** (-age / 100);
      expect(rootOf(n)).toBeCloseTo(1 / Math.sqrt(faded + 5), 4);
    }
  });
});

/** Items 0 to m − 1 with random lists of each other, published several times; some are removed. */
function randomWorld(random: Random, m: number, events: number) {
  const table = new PredecessorTable();
  const successors = new Successors(wasmKernels());
  const lists = Array.from({ length: m }, () => Predecessors.empty());
  const ratings = new Float64Array(m);
  const told = new Map<number, { list: Predecessors; ratings: number }>();
  for (let event = 0; event < events; event++) {
    const item = random.below(m);
    // A few items come before very many others.
    const before = Array.from({ length: random.below(6) }, () =>
      keyOf(random.below(random.next() < 0.3 ? 3 : m)),
    );
    lists[item].count(before);
    ratings[item]++;
    if (random.next() < 0.02) {
      for (const follower of [table, successors]) follower.remove(item);
      told.delete(item);
    } else if (random.next() < 0.5) {
      for (const follower of [table, successors]) follower.set(item, lists[item], ratings[item]);
      const copy = Predecessors.fromBytes(lists[item].toBytes());
      told.set(item, { list: copy, ratings: ratings[item] });
    }
  }
  return { table, successors, told, ratings };
}

const keyOf = (item: number) => itemKey(`item ${item}`);

function contextOf(random: Random, m: number, ratings: Float64Array): NextContext {
  const context = new NextContext();
  const row = Array.from({ length: random.below(14) }, () => random.below(m));
  const rated = [...new Set(row)];
  context.prepare(
    { length: rated.length, slotFromEnd: (age) => rated[rated.length - 1 - age] },
    { keyAt: keyOf, countAt: (slot) => ratings[slot] },
  );
  return context;
}

describe(`what comes after a user's last items (seed ${SEED})`, () => {
  it('is the same from both sides, and by its definition, however often lists were told anew', () => {
    const random = new Random(SEED);
    let compared = 0;
    for (let world = 0; world < 6; world++) {
      // So few items that none has more successors than a list holds.
      const m = 5 + random.below(60);
      const { table, successors, told, ratings } = randomWorld(
        random,
        m,
        200 + random.below(9_000),
      );
      for (let question = 0; question < 20; question++) {
        const context = contextOf(random, m, ratings);
        const raised = successors.after(context);
        const found = new Map(slotsOf(raised).map((slot) => [slot, raised.sumOf(slot)]));
        expect(found.size).toBe(raised.length);
        for (let item = 0; item < m; item++) {
          const { list, ratings: n } = told.get(item) ?? { list: Predecessors.empty(), ratings: 0 };
          let due = 0;
          for (let e = 0; e < list.length; e++) {
            for (let l = 0; l < context.length; l++) {
              if (context.keys[l] !== list.keys[e]) continue;
              const root = rootOf(n) * rootOf(ratings[context.slots[l]]);
              due += (0.8 ** l * list.counts[e] * root) / 0.04;
            }
          }
          compared += Number(due > 0);
          expect(found.get(item) ?? 0).toBeCloseTo(due, 4);
          expect(table.sumAt(item, context)).toBeCloseTo(due, 4);
        }
      }
    }
    expect(compared).toBeGreaterThan(1_000);
  });

  it('keeps the 64 that an item counts most for', () => {
    const successors = new Successors(wasmKernels());
    const popular = keyOf(0);
    for (let item = 1; item <= 400; item++) {
      const list = Predecessors.empty();
      for (let rating = 0; rating < item; rating++) list.count([popular]);
      successors.set(item, list, 100);
    }
    const context = new NextContext();
    context.prepare(
      { length: 1, slotFromEnd: () => 0 },
      { keyAt: () => popular, countAt: () => 10 },
    );
    const slots = slotsOf(successors.after(context));
    expect(slots.length).toBe(64);
    expect(Math.min(...slots)).toBe(337);
  });

  it('takes no more memory for lists that are told so often that stamps begin anew', () => {
    const random = new Random(SEED);
    const successors = new Successors(wasmKernels());
    const tell = () => {
      for (let item = 0; item < 100; item++) {
        const list = Predecessors.empty();
        for (let e = 0; e < 30; e++)
          list.count([keyOf(random.below(100)), keyOf(random.below(100))]);
        successors.set(item, list, 30);
      }
    };
    for (let time = 0; time < 20; time++) tell();
    const settled = successors.byteLength;
    for (let time = 0; time < 280; time++) tell();
    // A freed room is only reused for lists of its size, so a few more rooms are allocated at
    // first.
    expect(successors.byteLength).toBeLessThanOrEqual(1.3 * settled);
  });
});
