/** Is every answer the exact best of the catalogue, however it came to be, also while it changes? */
import { referenceKernels, wasmKernels } from '@freshet/kernels';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byScoreThenId, Catalogue } from './catalogue.ts';
import { SearchQueue } from './search-queue.ts';

const SEED = 90_210;
const wasm = wasmKernels();

const worlds = fc.integer({ min: 1, max: 6 }).chain((k) => {
  const vector = fc
    .array(fc.integer({ min: -2, max: 2 }), { minLength: k, maxLength: k })
    .map((list) => Float32Array.from(list));
  const id = fc.integer({ min: 0, max: 60 }).map((n) => `i${n}`);
  return fc.record({
    k: fc.constant(k),
    writes: fc.array(fc.tuple(id, vector), { maxLength: 120 }),
    removed: fc.array(id, { maxLength: 10 }),
    withdrawn: fc.array(id, { maxLength: 10 }),
    excluded: fc.array(id, { maxLength: 20 }),
    queries: fc.array(vector, { minLength: 1, maxLength: 5 }),
    n: fc.integer({ min: 1, max: 70 }),
  });
});

describe(`the catalogue (seed ${SEED})`, () => {
  it('finds what a look at every item finds, equal scores ordered by id', () => {
    fc.assert(
      fc.property(worlds, ({ k, writes, removed, withdrawn, excluded, queries, n }) => {
        const catalogue = new Catalogue(wasm, k, 2);
        const truth = new Map(writes);
        for (const [id, vector] of writes) catalogue.items.set(id, vector);
        for (const id of removed) catalogue.items.remove(id);
        for (const id of withdrawn) catalogue.describe(id, { categories: [], withdrawn: true });
        for (const id of [...removed, ...withdrawn, ...excluded]) truth.delete(id);
        const slots = catalogue.slotsOf(excluded);
        const found = catalogue.search(
          queries.map((vector) => ({ vector, count: n, excluded: slots })),
        );
        queries.forEach((query, nth) => {
          const all = [...truth].map(([item, vector]) => ({
            item,
            score: vector.reduce((sum, factor, f) => sum + factor * (query[f] ?? 0), 0),
          }));
          const expected = all.sort(byScoreThenId).slice(0, n);
          expect(found[nth]?.map(({ item }) => item)).toEqual(expected.map(({ item }) => item));
        });
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('answers, under updates, as it was at some moment between question and answer', async () => {
    const catalogue = new Catalogue(wasm, 2, 2);
    const queue = new SearchQueue(catalogue);
    // All items always have the same vector: a mixture of two states would show in the scores.
    const write = (state: number) => {
      for (let n = 0; n < 200; n++) catalogue.items.set(`i${n}`, Float32Array.of(state, 1));
    };
    let state = 1;
    write(state);
    const answers: Promise<void>[] = [];
    for (let turn = 0; turn < 50; turn++) {
      const asked = state;
      const query = { vector: Float32Array.of(1, 0), count: 20, excluded: [] };
      answers.push(
        queue.search(query, (found) => {
          const scores = new Set(found.map(({ score }) => score));
          expect(scores.size).toBe(1);
          expect([...scores][0]).toBeGreaterThanOrEqual(asked);
          expect([...scores][0]).toBeLessThanOrEqual(state);
        }),
      );
      write(++state);
      if (turn % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(answers);
  });

  it('tells alike items by the cosine of their vectors', async () => {
    const catalogue = new Catalogue(referenceKernels(), 2, 2);
    catalogue.items.set('a', Float32Array.of(1, 0));
    catalogue.items.set('longer', Float32Array.of(5, 5));
    catalogue.items.set('closer', Float32Array.of(2, 0.1));
    catalogue.items.set('opposite', Float32Array.of(-1, 0));
    const found = await catalogue.similar('a', 10);
    expect(found?.map(({ item }) => item)).toEqual(['closer', 'longer', 'opposite']);
    expect(found?.[1]?.score).toBeCloseTo(Math.SQRT1_2, 6);
    expect(await catalogue.similar('unknown', 10)).toBeUndefined();
  });
});

describe('searches that come together', () => {
  it('share a pass; one that comes alone runs in the same turn', async () => {
    const passes: number[] = [];
    const queue = new SearchQueue({
      search: (queries) => {
        passes.push(queries.length);
        return queries.map(() => []);
      },
    });
    const query = { vector: new Float32Array(1), count: 1, excluded: [] };
    await queue.search(query, String);
    await Promise.all(Array.from({ length: 40 }, () => queue.search(query, String)));
    expect(passes).toEqual([1, 16, 16, 8]);
  });

  it('do not fail each other when one of them cannot make an answer', async () => {
    const queue = new SearchQueue({ search: (queries) => queries.map(() => []) });
    const query = { vector: new Float32Array(1), count: 1, excluded: [] };
    const unfit = queue.search(query, () => {
      throw new Error('unfit');
    });
    const fine = queue.search(query, () => 'fine');
    await expect(unfit).rejects.toThrow('unfit');
    expect(await fine).toBe('fine');
  });

  it('fail together when the search fails, and the next ones do not', async () => {
    let broken = true;
    const queue = new SearchQueue({
      search: (queries) => {
        if (broken) throw new Error('broken');
        return queries.map(() => []);
      },
    });
    const query = { vector: new Float32Array(1), count: 1, excluded: [] };
    await expect(queue.search(query, String)).rejects.toThrow('broken');
    broken = false;
    expect(await queue.search(query, ({ length }) => length)).toBe(0);
  });
});
