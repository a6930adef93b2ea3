/** Is every list the exact top of the catalogue, however it was filled, and while it changes? */
import { referenceKernels, wasmKernels } from '@freshet/kernels';
import { figuresOf, firstTheta, Gram, type Grams, Random } from '@freshet/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byScoreThenId, Catalogue } from './catalogue.ts';
import { Ranking } from './ranking.ts';
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
        const catalogue = new Catalogue(wasm, { factorCount: k, ranking: 'factors' }, 2);
        const truth = new Map(writes);
        for (const [id, vector] of writes) catalogue.items.set(id, vector);
        for (const id of removed) catalogue.items.remove(id);
        for (const id of withdrawn) catalogue.describe(id, { categories: [], withdrawn: true });
        for (const id of [...removed, ...withdrawn, ...excluded]) truth.delete(id);
        const slots = catalogue.slotsOf(excluded);
        const found = queries.map((vector) =>
          catalogue.search({ vector, count: n, excluded: slots }),
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
    const catalogue = new Catalogue(wasm, { factorCount: 2, ranking: 'factors' }, 2);
    const queue = new SearchQueue(catalogue);
    // All items have the same vector at any time: a mixture of two states would show in the scores.
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
    const catalogue = new Catalogue(referenceKernels(), { factorCount: 2, ranking: 'combined' }, 2);
    catalogue.items.set('a', Float32Array.of(1, 0));
    catalogue.items.set('longer', Float32Array.of(5, 5), rated(3_000));
    catalogue.items.set('closer', Float32Array.of(2, 0.1));
    catalogue.items.set('opposite', Float32Array.of(-1, 0));
    const found = await catalogue.similar('a', 10);
    expect(found?.map(({ item }) => item)).toEqual(['closer', 'longer', 'opposite']);
    expect(found?.[1]?.score).toBeCloseTo(Math.SQRT1_2, 6);
    expect(await catalogue.similar('unknown', 10)).toBeUndefined();
    expect(catalogue.vectorOf('longer')).toEqual(Float32Array.of(5, 5));
  });

  it('ranks by factors and counts together, as they are at the clock', () => {
    const K = 6;
    const random = new Random(SEED);
    const settings = { factorCount: K, ranking: 'combined' } as const;
    const draw = () => Float32Array.from({ length: K }, () => 0.3 * random.normal());
    const catalogue = new Catalogue(wasm, settings, 2);
    const ids = Array.from({ length: 500 }, (_, n) => `i${n}`);
    for (const id of ids) catalogue.items.set(id, draw(), rated(random.below(2_000)));
    const grams: Grams = { ...noGrams(K), clock: 0.7 };
    grams.user.move(undefined, draw());
    const ranking = new Ranking(settings, () => grams);
    const user = { vector: draw(), rated: [1, 2, 3] };
    const check = () => {
      const query = ranking.queryOf(user);
      const { vector, counts } = ranking.face(user);
      const all = ids.map((item) => {
        const score = catalogue.scoreOf(query, item) ?? Number.NaN;
        const factors = dot(vector, catalogue.vectorOf(item) ?? []);
        expect(score).toBeCloseTo(factors + dot(counts, catalogue.countsOf(item)), 4);
        return { item, score };
      });
      const found = catalogue.search({ ...query, count: 20, excluded: [] });
      expect(found).toEqual(all.sort(byScoreThenId).slice(0, 20));
      return found;
    };
    const before = check();
    catalogue.items.moveTo(grams.clock);
    catalogue.items.rewrite(0, catalogue.items.table.slotEnd);
    expect(check()).not.toEqual(before);
  });

  it('tells what is popular as a share of the most popular, and leaves out what nobody rates', async () => {
    const catalogue = new Catalogue(wasm, { factorCount: 2, ranking: 'combined' }, 2);
    catalogue.items.set('hit', Float32Array.of(0, 1), rated(40));
    catalogue.items.set('old', Float32Array.of(0, 1), rated(10));
    catalogue.items.set('new', Float32Array.of(0, 1));
    expect(await catalogue.popular(10)).toEqual([
      { item: 'hit', score: 1 },
      { item: 'old', score: expect.closeTo(0.25, 12) },
    ]);
  });
});

/** The figures of an item with a number of ratings at clock 0. */
function rated(count: number): Float64Array {
  const of = Math.log2(count);
  return figuresOf(1, { count, newcomers: count >> 3, fast: of, slow: of, excess: 0 });
}

function noGrams(k: number): Grams {
  const counts = { ratings: 0, values: 0, clock: 0 };
  return { user: Gram.zero(k), item: Gram.zero(k), ...counts, theta: firstTheta() };
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Array.from(a).reduce((sum, each, at) => sum + each * (b[at] ?? 0), 0);
}

describe('searches that come together', () => {
  it('all run in one turn while they are fast, and leave room for other work when they are slow', async () => {
    const query = { vector: new Float32Array(1), count: 1, excluded: [] };
    const turnsWith = async (searchMs: number): Promise<number[]> => {
      let turn = 0;
      let isOver = false;
      const count = () => {
        turn++;
        if (!isOver) setImmediate(count);
      };
      const turns: number[] = [];
      let now = 0;
      const search = () => {
        turns.push(turn);
        now += searchMs;
        return [];
      };
      const queue = new SearchQueue({ search }, () => now);
      setImmediate(count);
      await Promise.all(Array.from({ length: 4 }, () => queue.search(query, String)));
      isOver = true;
      return turns.map((each) => each - (turns[0] ?? 0));
    };
    expect(await turnsWith(0.1)).toEqual([0, 0, 0, 0]);
    expect(await turnsWith(2.1)).toEqual([0, 0, 1, 1]);
    expect(await turnsWith(10)).toEqual([0, 1, 2, 3]);
  });

  it('are answered after the last search of their turn', async () => {
    const told: string[] = [];
    const queue = new SearchQueue({
      search: () => {
        told.push('search');
        return [];
      },
    });
    const query = { vector: new Float32Array(1), count: 1, excluded: [] };
    const answers = Array.from({ length: 3 }, () =>
      queue.search(query, String).then(() => told.push('answer')),
    );
    await Promise.all(answers);
    expect(told).toEqual([...answers.map(() => 'search'), ...answers.map(() => 'answer')]);
  });

  it('do not fail each other when one of them cannot make an answer', async () => {
    const queue = new SearchQueue({ search: () => [] });
    const query = { vector: new Float32Array(1), count: 1, excluded: [] };
    const unfit = queue.search(query, () => {
      throw new Error('unfit');
    });
    const fine = queue.search(query, () => 'fine');
    await expect(unfit).rejects.toThrow('unfit');
    expect(await fine).toBe('fine');
  });

  it('fail when their own search fails, and the next ones do not', async () => {
    let broken = true;
    const queue = new SearchQueue({
      search: () => {
        if (broken) throw new Error('broken');
        return [];
      },
    });
    const query = { vector: new Float32Array(1), count: 1, excluded: [] };
    await expect(queue.search(query, String)).rejects.toThrow('broken');
    broken = false;
    expect(await queue.search(query, ({ length }) => length)).toBe(0);
  });
});
