/** Is a list with raises that of a full scan, for every query, and while items change? */
import { wasmKernels } from '@freshet/kernels';
import { itemKey, nextFeature, Predecessors, Random, rootOf } from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { byScoreThenId, Catalogue, type Query } from './catalogue.ts';

const SEED = 61;
const K = 3;
const wasm = wasmKernels();

/** A catalogue of random items, and the same items as plain data. */
class World {
  readonly random: Random;
  readonly catalogue = new Catalogue(wasm, { factorCount: K, ranking: 'factors' }, 2);
  readonly #items = new Map<string, { vector: Float32Array; list: Predecessors; count: number }>();
  readonly #withdrawn = new Set<string>();
  readonly #size: number;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.#size = 2 + this.random.below(150);
    for (let step = 0; step < 3 * this.#size; step++) this.change();
  }

  someId(): string {
    return `i${this.random.below(this.#size)}`;
  }

  change(): void {
    const { random, catalogue } = this;
    const id = this.someId();
    const chance = random.next();
    if (chance < 0.05) {
      catalogue.items.remove(id);
      this.#items.delete(id);
      return;
    }
    if (chance < 0.1) {
      const withdrawn = random.next() < 0.5;
      catalogue.describe(id, { categories: [id.slice(0, 2)], withdrawn });
      if (withdrawn) this.#withdrawn.add(id);
      else this.#withdrawn.delete(id);
      return;
    }
    // Few values, so that many scores are equal.
    const vector = Float32Array.from({ length: K }, () => random.below(3) - 1);
    const list = Predecessors.empty();
    const count = random.below(30);
    for (let rating = 0; rating < count; rating++) {
      list.count(Array.from({ length: random.below(4) }, () => itemKey(this.someId())));
    }
    const figures = Float64Array.of(1, count, 0, 0, 0, 0);
    catalogue.items.set(id, vector, figures, list.toBytes());
    this.#items.set(id, { vector, list, count });
  }

  ask(): Query {
    const { random, catalogue } = this;
    const some = (most: number) => Array.from({ length: random.below(most) }, () => this.someId());
    const next = { weight: random.below(3) / 4, recent: catalogue.slotsOf(new Set(some(15))) };
    const vector = Float32Array.from({ length: K }, () => random.below(3) - 1);
    const excluded = random.next() < 0.5 ? next.recent : catalogue.slotsOf(some(30));
    return { vector, next, excluded, count: 1 + random.below(40) };
  }

  /** Scores every item by the definition. */
  best({ vector, next, excluded, count }: Query, category?: string) {
    const scored = [...this.#items].flatMap(([item, { vector: own, list, count: ratings }]) => {
      const slot = this.catalogue.items.slotOf(item) ?? -1;
      const isOut = Array.from(excluded).includes(slot) || this.#withdrawn.has(item);
      if (isOut || (category !== undefined && !this.#isOf(item, category))) return [];
      const sum = this.#sumOf(list, ratings, Array.from(next?.recent ?? []));
      const dense = own.reduce((total, factor, f) => total + factor * (vector[f] ?? 0), 0);
      return { item, score: dense + (next?.weight ?? 0) * nextFeature(sum) };
    });
    return scored.sort(byScoreThenId).slice(0, count);
  }

  #isOf(item: string, category: string): boolean {
    const [described] = this.catalogue.described([{ item, score: 0 }]);
    return described?.categories?.includes(category) ?? false;
  }

  #sumOf(list: Predecessors, ratings: number, recent: readonly number[]): number {
    const { items } = this.catalogue;
    const newest = recent.slice(-5).reverse();
    return newest.reduce((sum, slot, age) => {
      const at = list.keys.subarray(0, list.length).indexOf(itemKey(items.idAt(slot)));
      const before = this.#items.get(items.idAt(slot))?.count ?? 0;
      const root = rootOf(ratings) * rootOf(before);
      return sum + (at < 0 ? 0 : (0.8 ** age * (list.counts[at] ?? 0) * root) / 0.04);
    }, 0);
  }
}

type Scored = readonly { item: string; score: number }[];

const namesOf = (list: Scored) => list.map(({ item }) => item).join();

/** Expects the same scores in order, and the same items except where scores are nearly equal. */
function expectSame(found: Scored, expected: Scored, note: string): void {
  expect(found.length, note).toBe(expected.length);
  found.forEach(({ item, score }, at) => {
    const due = expected[at];
    expect(score, `${note}, place ${at}`).toBeCloseTo(due?.score ?? Number.NaN, 4);
    if (item === due?.item) return;
    const twin = expected.find((each) => each.item === item) ?? expected.at(-1);
    expect(twin?.score, `${note}, ${item}`).toBeCloseTo(score, 4);
  });
}

describe(`a list with raises (seed ${SEED})`, () => {
  it('is the best of all items, filters and pages included, while items and lists change', () => {
    let raised = 0;
    for (let seed = SEED; seed < SEED + 40; seed++) {
      const world = new World(seed);
      for (let turn = 0; turn < 6; turn++) {
        const queries = Array.from({ length: 1 + world.random.below(6) }, () => world.ask());
        const lists = queries.map((query) => world.catalogue.search(query));
        queries.forEach((query, nth) => {
          const note = `seed ${seed}, turn ${turn}, query ${nth}`;
          expectSame(lists[nth] ?? [], world.best(query), note);
          const plain = world.best({ ...query, next: { weight: 0, recent: [] } });
          raised += Number(namesOf(plain) !== namesOf(lists[nth] ?? []));
          const category = world.someId().slice(0, 2);
          const ofCategory = world.catalogue.searchCategory(category, query);
          expectSame(ofCategory, world.best(query, category), `${note}, ${category}`);
        });
        for (let change = world.random.below(9); change > 0; change--) world.change();
      }
    }
    expect(raised).toBeGreaterThan(100);
  });

  it('gives an item the same score alone as in a list, and its raise in parts', () => {
    let parts = 0;
    for (let seed = SEED; seed < SEED + 20; seed++) {
      const world = new World(seed);
      const { catalogue } = world;
      const query = world.ask();
      for (const { item, score } of catalogue.search(query)) {
        expect(catalogue.scoreOf(query, item)).toBeCloseTo(score, 5);
        const plain = catalogue.scoreOf({ vector: query.vector }, item) ?? 0;
        const told = catalogue.reasonsToRaise(query, item);
        const sum = told.reduce((total, { contribution }) => total + contribution, 0);
        expect(plain + sum).toBeCloseTo(score, 4);
        parts += told.length;
      }
    }
    expect(parts).toBeGreaterThan(20);
  });
});

describe('what came after an item', () => {
  it('is told by how much more often than chance, without what is withdrawn', () => {
    const catalogue = new Catalogue(wasm, { factorCount: K, ranking: 'factors' }, 2);
    const after = (id: string, times: number) => {
      const list = Predecessors.empty();
      for (let count = 0; count < times; count++) list.count([itemKey('tea')]);
      catalogue.items.set(
        id,
        new Float32Array(K),
        Float64Array.of(1, 10, 0, 0, 0, 0),
        list.toBytes(),
      );
    };
    after('tea', 0);
    after('milk', 3);
    after('honey', 7);
    after('gone', 9);
    catalogue.describe('gone', { categories: [], withdrawn: true });
    const found = catalogue.next('tea', 10);
    expect(found.map(({ item }) => item)).toEqual(['honey', 'milk']);
    expect(found[0]?.score).toBeGreaterThan(2 * (found[1]?.score ?? 1));
    expect(catalogue.next('tea', 1)).toHaveLength(1);
    expect(catalogue.next('nobody knows', 10)).toEqual([]);
  });
});
