/** Does a search find exactly what a scan of all vectors finds, whatever was written before it? */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Kernels, RankedTable, Search } from './kernels.ts';
import { referenceKernels } from './reference.ts';
import { wasmKernels } from './wasm.ts';
import type { Raises } from './weighted-lists.ts';

const SEED = 7_071;
const RUNS = { seed: SEED, numRuns: 150 };
const wasm = wasmKernels();
const reference = referenceKernels();

/** Sums of whole numbers are exact: many ties, and both implementations agree bit for bit. */
const whole = fc.integer({ min: -3, max: 3 });
const real = fc.oneof(
  { weight: 8, arbitrary: fc.double({ min: -2, max: 2, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(0, -0, 1e-40, 1e-20, 3e9, 1e15, -1e18) },
);

interface Step {
  slot: number;
  kind: 'write' | 'remove' | 'hide' | 'show';
  vector: Float32Array;
}

interface World {
  k: number;
  /** After step `after`, rebases for queries like `asked` and migrates `settled` vectors. */
  turns: { after: number; asked: Float32Array; settled: number }[];
  steps: Step[];
  queries: Float32Array[];
  rooms: number[];
  excluded: number[][];
  /** For each query: the lists that raise scores, and the weight of the raises; 0: none. */
  raises?: { weight: number; lists: { slot: number; weight: number }[][] }[];
}

function raised(m: number) {
  const entry = fc.record({
    slot: fc.nat(m),
    weight: fc.double({ min: 0.1, max: 9, noNaN: true }),
  });
  const list = fc.uniqueArray(entry, { maxLength: 40, selector: ({ slot }) => slot });
  return fc.record({
    weight: fc.constantFrom(0, 0.2, 2),
    lists: fc.array(list, { maxLength: 4 }),
  });
}

function worlds(factor: fc.Arbitrary<number>): fc.Arbitrary<World> {
  const vector = (k: number) =>
    fc.array(factor, { minLength: k, maxLength: k }).map((list) => Float32Array.from(list));
  return fc
    .tuple(
      fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(33, 34, 40)),
      fc.integer({ min: 1, max: 160 }),
    )
    .chain(([k, m]) =>
      fc.record({
        k: fc.constant(k),
        turns: fc.array(fc.record({ after: fc.nat(2 * m), asked: vector(k), settled: fc.nat(m) }), {
          maxLength: 3,
        }),
        steps: fc.array(
          fc.record({
            slot: fc.nat(m),
            kind: fc.constantFrom('write', 'write', 'write', 'write', 'remove', 'hide', 'show'),
            vector: vector(k),
          }),
          { maxLength: 2 * m },
        ) as fc.Arbitrary<Step[]>,
        queries: fc.array(vector(k), { minLength: 1, maxLength: 6 }),
        rooms: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 6, maxLength: 6 }),
        excluded: fc.array(fc.array(fc.nat(m), { maxLength: 30 }), { minLength: 6, maxLength: 6 }),
        raises: fc.array(raised(m), { minLength: 6, maxLength: 6 }),
      }),
    );
}

/** Every table hands out slots in the same order, so the same steps can be run on all of them. */
function play(kernels: Kernels, { k, turns, steps }: World): RankedTable {
  const table = kernels.rankedTable(k);
  const slots = new Map<number, number>();
  for (const [nth, { slot, kind, vector }] of steps.entries()) {
    for (const { after, asked, settled } of turns) {
      if (after !== nth) continue;
      search(kernels, table, asked);
      table.rebase();
      table.migrate(settled);
    }
    const known = slots.get(slot);
    if (kind === 'write') {
      const target = known ?? table.add();
      slots.set(slot, target);
      table.write(target, vector);
    } else if (known !== undefined && kind === 'remove') {
      table.remove(known);
      slots.delete(slot);
    } else if (known !== undefined) {
      table.hide(known, kind === 'hide');
    }
  }
  return table;
}

function search(kernels: Kernels, table: RankedTable, query: Float32Array): Search {
  const best = { length: 0, slots: new Uint32Array(1), scores: new Float32Array(1) };
  const asked = { query, excluded: [], best, tied: false };
  kernels.search(asked, table);
  return asked;
}

/** Pseudo-random numbers in [0, 1). */
function lots(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function searchesOf(
  { queries, rooms, excluded, raises }: Pick<World, 'queries' | 'rooms' | 'excluded' | 'raises'>,
  raisedBy?: Kernels,
): Search[] {
  return queries.map((query, nth) => {
    const room = rooms[nth];
    const best = { length: 0, slots: new Uint32Array(room), scores: new Float32Array(room) };
    const given = raisedBy && raises?.[nth];
    const raise = given?.weight ? { raises: raisesOf(raisedBy as Kernels, given) } : {};
    return { query, excluded: excluded[nth], best, tied: false, ...raise };
  });
}

function raisesOf(kernels: Kernels, { weight, lists }: NonNullable<World['raises']>[0]): Raises {
  const sums = kernels.slotSums(200);
  sums.reserve(200);
  for (const list of lists) {
    const page = kernels.listPage(50);
    list.forEach((entry, at) => {
      page.numbers[at + 3] = entry.slot;
      page.weights[at + 3] = entry.weight;
    });
    kernels.gather(page, 3, list.length, 1.5, sums);
  }
  return { weight, sums };
}

function rowsOf({ best }: Search): string[] {
  return Array.from({ length: best.length }, (_, at) => `${best.scores[at]} ${best.slots[at]}`);
}

describe(`a ranked table (seed ${SEED})`, () => {
  it('answers as its twin does, ties told, in any mix of writes, exclusions and raises', () => {
    fc.assert(
      fc.property(worlds(whole), (world) => {
        const [ours, theirs] = [play(wasm, world), play(reference, world)];
        const [found, expected] = [searchesOf(world, wasm), searchesOf(world, reference)];
        for (const search of found) wasm.search(search, ours);
        for (const search of expected) reference.search(search, theirs);
        found.forEach((search, nth) => {
          const oracle = expected[nth];
          expect(search.tied).toBe(oracle.tied);
          expect(search.best.scores.slice(0, search.best.length)).toEqual(
            oracle.best.scores.slice(0, oracle.best.length),
          );
          const last = search.best.scores[search.best.length - 1];
          const above = (row: string) => !row.startsWith(`${last} `);
          expect(rowsOf(search).filter(above).sort()).toEqual(rowsOf(oracle).filter(above).sort());
          if (search.best.length === 0 || search.raises !== undefined) return;
          const level = reference.slotsScoring(search.query, last, theirs).sort();
          expect(wasm.slotsScoring(search.query, last, ours).sort()).toEqual(level);
        });
      }),
      RUNS,
    );
  });

  it('finds the same while its vectors move to another layout, whatever is asked', () => {
    const draws = lots(SEED);
    const below = (end: number) => Math.floor(draws() * end);
    const [k, items] = [44, 3_000];
    /** A random vector whose last columns are up to `stretch` times as long as the first. */
    const draw = (stretch: number) =>
      Float32Array.from(
        { length: k },
        (_, f) => stretch ** (f / k) * (draws() + draws() + draws() - 1.5),
      );
    const tables = [wasm, reference].map((kernels) => kernels.rankedTable(k));
    const write = (slot: number, vector: Float32Array) => {
      for (const table of tables) table.write(slot, vector);
    };
    for (let item = 0; item < items; item++) {
      for (const table of tables) table.add();
      write(item, draw(30));
    }
    let turned = 0;
    for (let round = 0; round < 30; round++) {
      const stretch = round < 15 ? 10 : 0.01;
      if (round % 3 === 0 && tables[0].rebase()) turned++;
      for (let moved = 0; moved < 500; moved++) write(below(items), draw(30));
      const leaving = below(items);
      for (const table of tables) table.remove(leaving);
      for (const table of tables) expect(table.add()).toBe(leaving);
      const queries = Array.from({ length: 5 }, () => draw(stretch));
      const world = { queries, rooms: [10, 1, 40, 10, 10], excluded: [[], [], [], [], []] };
      const [found, expected] = [searchesOf(world), searchesOf(world)];
      for (const search of found) wasm.search(search, tables[0]);
      for (const search of expected) reference.search(search, tables[1]);
      found.forEach(({ best }, nth) => {
        expect(best.length).toBe(expected[nth].best.length);
        expect([...best.slots]).toEqual([...expected[nth].best.slots]);
      });
      if (round % 3 === 1) tables[0].migrate(round % 2 === 0 ? 700 : items);
    }
    expect(turned).toBeGreaterThan(1);
  });

  it('is laid out anew only where that helps, a few vectors at a time', () => {
    const table = wasm.rankedTable(2);
    const draws = lots(SEED);
    expect(table.rebase()).toBe(false);
    for (let item = 0; item < 300; item++) {
      table.write(table.add(), Float32Array.of(100 * draws(), draws()));
    }
    for (let nth = 0; nth < 300; nth++) {
      search(wasm, table, Float32Array.of(draws(), 100 * draws()));
    }
    expect(table.rebase()).toBe(true);
    expect(table.rebase()).toBe(false);
    expect(table.migrate(299)).toBe(false);
    expect(table.migrate(1)).toBe(true);
    expect(table.rebase()).toBe(false);
  });

  it('finds, to the bit, the best of all scores that a plain scan computes', () => {
    fc.assert(
      fc.property(worlds(real), (world) => {
        const table = play(wasm, world);
        const plain = wasm.table(world.k);
        const hidden = new Set<number>();
        const gone = new Set<number>();
        const copy = new Float32Array(world.k);
        for (let slot = 0; slot < table.slotEnd; slot++) {
          plain.add();
          try {
            table.read(slot, copy);
          } catch {
            gone.add(slot);
            continue;
          }
          plain.write(slot, copy);
        }
        const searches = searchesOf(world);
        for (const search of searches) wasm.search(search, table);
        for (const { query, excluded, best } of searches) {
          const scores = new Float32Array(table.slotEnd);
          wasm.scores(query, plain, scores);
          const visible = new Set(
            [...new Set(scores)].flatMap((score) => wasm.slotsScoring(query, score, table)),
          );
          for (let slot = 0; slot < table.slotEnd; slot++) if (!visible.has(slot)) hidden.add(slot);
          const left = (slot: number) =>
            hidden.has(slot) || gone.has(slot) || Array.from(excluded).includes(slot);
          const all = [...scores.keys()].filter((slot) => !left(slot)).map((slot) => scores[slot]);
          const expected = all.sort((a, b) => b - a).slice(0, best.slots.length);
          expect([...best.scores.slice(0, best.length)]).toEqual(expected.map((x) => x));
          const again = new Float32Array(best.length);
          wasm.scoresOf(query, best.slots.subarray(0, best.length), table, again);
          expect(again).toEqual(best.scores.slice(0, best.length));
          for (let at = 0; at < best.length; at++) {
            expect(scores[best.slots[at]]).toBe(best.scores[at]);
            expect(left(best.slots[at])).toBe(false);
          }
        }
      }),
      RUNS,
    );
  });

  it('gives the bytes of emptied classes to those that grow', () => {
    const table = wasm.rankedTable(4);
    const slots = Array.from({ length: 1_000 }, () => table.add());
    for (const slot of slots) table.write(slot, Float32Array.of(1, 1, 1, 1));
    const before = table.byteLength;
    for (let round = 2; round < 40; round++) {
      for (const slot of slots) table.write(slot, new Float32Array(4).fill(round));
    }
    expect(table.byteLength).toBeLessThan(1.2 * before);
    const copy = new Float32Array(4);
    table.read(slots[999], copy);
    expect([...copy]).toEqual([39, 39, 39, 39]);
  });

  it('refuses slots that are not in use, other lengths and tables of other kernels', () => {
    const table = wasm.rankedTable(4);
    const slot = table.add();
    table.remove(slot);
    expect(() => table.write(slot, new Float32Array(4))).toThrow(RangeError);
    expect(() => table.write(table.add(), new Float32Array(3))).toThrow(RangeError);
    expect(() => search(wasm, reference.rankedTable(4), new Float32Array(4))).toThrow(TypeError);
    expect(() => search(reference, table, new Float32Array(4))).toThrow(TypeError);
  });

  it('leaves nothing out of a search after one that refused the raises of other kernels', () => {
    const table = wasm.rankedTable(1);
    table.write(table.add(), Float32Array.of(1));
    const raises = raisesOf(reference, { weight: 1, lists: [[{ slot: 0, weight: 1 }]] });
    const query = Float32Array.of(1);
    const best = { length: 0, slots: new Uint32Array(1), scores: new Float32Array(1) };
    const refused = { query, raises, excluded: [0], best, tied: false };
    expect(() => wasm.search(refused, table)).toThrow(TypeError);
    expect(search(wasm, table, query).best.length).toBe(1);
  });
});
