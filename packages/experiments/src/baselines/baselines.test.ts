import { Random } from '@freshet/model';
import { checkerboard } from '@freshet/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadTable, type RatingTable, rowsOf } from '../rating-table.ts';
import { RandomScores, type Recommender } from '../recommender.ts';
import { Als } from './als.ts';
import { Factors } from './factors.ts';
import { ItemMean } from './item-mean.ts';
import { MultNmf, type NmfObjective } from './mult-nmf.ts';
import { Popularity } from './popularity.ts';
import { Sgd } from './sgd.ts';

const seed = 4_711;

async function table(
  ...lines: [user: string, item: string, value: number][]
): Promise<RatingTable> {
  return loadTable([lines.map(([user, item, value], time) => ({ user, item, value, time }))]);
}

function scores(recommender: Recommender, user: number, items: number): number[] {
  const out = new Float32Array(items);
  recommender.scoreAll(user, out);
  return [...out];
}

async function board(): Promise<{ ratings: RatingTable; users: number; items: number }> {
  const cells = checkerboard(12, 12);
  const ratings = await table(
    ...cells.map(({ user, item }): [string, string, number] => [`u${user}`, `i${item}`, 5]),
  );
  return { ratings, users: ratings.users.length, items: ratings.items.length };
}

/** Of the user's unrated items, the one that scores highest, by id. */
function favourite(recommender: Recommender, ratings: RatingTable, user: string): string {
  const number = ratings.users.indexOf(user);
  const list = scores(recommender, number, ratings.items.length);
  ratings.user.forEach((u, row) => {
    if (u === number) list[ratings.item[row] ?? 0] = Number.NEGATIVE_INFINITY;
  });
  return ratings.items[list.indexOf(Math.max(...list))] ?? '';
}

describe('popularity', () => {
  it('counts ratings', async () => {
    const ratings = await table(['a', 'x', 1], ['b', 'x', 5], ['b', 'y', 5]);
    const popularity = new Popularity({ items: 3 });
    popularity.fit(ratings);
    expect(scores(popularity, 0, 3)).toEqual([2, 1, 0]);
    popularity.update(0, 2);
    expect(scores(popularity, 0, 3)).toEqual([2, 1, 1]);
  });

  it('with a half-life halves every count in so many ratings for each known item, as the slow twin does', () => {
    const halfLife = 3;
    fc.assert(
      fc.property(fc.array(fc.nat(4), { maxLength: 60 }), (stream) => {
        const popularity = new Popularity({ items: 5, halfLife });
        const slow = new Float64Array(5);
        const known = new Set<number>();
        for (const item of stream) {
          known.add(item);
          popularity.update(0, item);
          for (let i = 0; i < 5; i++) slow[i] = (slow[i] ?? 0) + (i === item ? 1 : 0);
          for (let i = 0; i < 5; i++)
            slow[i] = (slow[i] ?? 0) * 2 ** (-1 / (halfLife * known.size));
        }
        scores(popularity, 0, 5).forEach((score, i) => {
          expect(score).toBeCloseTo(slow[i] ?? 0, 5);
        });
      }),
      { seed },
    );
  });

  it('does not overflow over a stream of many half-lives', () => {
    const popularity = new Popularity({ items: 2, halfLife: 0.5 });
    for (let i = 0; i < 5_000; i++) popularity.update(0, i % 2);
    const [even, odd] = scores(popularity, 0, 2);
    // The last rating, of item 1, is one half by now, the one before a quarter, and so on.
    expect(odd).toBeCloseTo(2 / 3, 5);
    expect(even).toBeCloseTo(1 / 3, 5);
  });

  it('refuses a half-life that is not positive', () => {
    expect(() => new Popularity({ items: 1, halfLife: 0 })).toThrow(RangeError);
  });
});

describe('the damped item mean', () => {
  it('is worked by hand: (5 + 4 + 2 · 3) / 4 with damping 2 around the mean 3', async () => {
    const ratings = await table(['a', 'x', 5], ['b', 'x', 4], ['a', 'y', 1], ['b', 'y', 2]);
    const itemMean = new ItemMean({ items: 3, damping: 2 });
    itemMean.fit(ratings);
    expect(scores(itemMean, 0, 3)).toEqual([3.75, 2.25, 3]);
  });

  it('gives an unrated item the mean of all, damped or not', async () => {
    const itemMean = new ItemMean({ items: 2, damping: 0 });
    itemMean.fit(await table(['a', 'x', 4]));
    expect(scores(itemMean, 0, 2)).toEqual([4, 4]);
  });
});

describe('the building blocks', () => {
  it('pack rows by owner, in order', () => {
    const rows = rowsOf(
      Uint32Array.of(2, 0, 2),
      Uint32Array.of(7, 8, 9),
      Float32Array.of(1, 2, 3),
      3,
    );
    expect([...rows.start]).toEqual([0, 1, 1, 3]);
    expect([...rows.neighbour]).toEqual([8, 7, 9]);
    expect([...rows.value]).toEqual([2, 1, 3]);
  });

  it('give the inner products one would get one by one, for any k', () => {
    for (const k of [1, 3, 4, 7, 8]) {
      const random = new Random(seed + k);
      const users = Factors.normal(3, k, 1, random);
      const items = Factors.normal(5, k, 1, random);
      const out = new Float32Array(5);
      users.innerProducts(1, items, out);
      out.forEach((score, j) => {
        expect(score).toBeCloseTo(users.dot(1, items, j), 4);
      });
    }
  });
});

/** A small random problem, and its objective by the definition. */
function problem(objective: NmfObjective) {
  const random = new Random(seed);
  const [n, m, k] = [7, 5, 3];
  const users = Factors.positive(n, k, random);
  const items = Factors.positive(m, k, random);
  const cells: [number, number, number][] = [];
  for (let u = 0; u < n; u++) {
    for (let i = 0; i < m; i++) if (random.next() < 0.5) cells.push([u, i, 1 + random.below(5)]);
  }
  const columns = {
    user: Uint32Array.from(cells, ([u]) => u),
    item: Uint32Array.from(cells, ([, i]) => i),
    value: Float32Array.from(cells, ([, , r]) => r),
  };
  const loss = () => {
    let total = 0;
    for (let u = 0; u < n; u++) {
      for (let i = 0; i < m; i++) {
        const known = cells.find(([a, b]) => a === u && b === i);
        const predicted = users.dot(u, items, i);
        if (objective === 'squared-known') total += known ? (known[2] - predicted) ** 2 : 0;
        else total += predicted - (known ? known[2] * Math.log(predicted) : 0);
      }
    }
    return total;
  };
  return { n, m, users, items, columns, loss };
}

describe('Mult-NMF', () => {
  it.each(['squared-known', 'divergence-all'] as const)(
    'never raises its objective (%s)',
    (objective) => {
      const { n, m, users, items, columns, loss } = problem(objective);
      const nmf = new MultNmf({ users: n, items: m, k: users.k, passes: 0, objective, seed });
      let before = loss();
      const first = before;
      for (let pass = 0; pass < 30; pass++) {
        nmf.improve(users, rowsOf(columns.user, columns.item, columns.value, n), items);
        nmf.improve(items, rowsOf(columns.item, columns.user, columns.value, m), users);
        const after = loss();
        expect(after).toBeLessThanOrEqual(before + 1e-4 * Math.abs(before));
        before = after;
      }
      expect(before).toBeLessThan(first - 1);
      for (const factor of users.data) expect(factor).toBeGreaterThanOrEqual(0);
    },
  );

  it('sees the checkerboard when the unknown cells count as 0', async () => {
    const { ratings, users, items } = await board();
    const nmf = new MultNmf({ users, items, k: 2, passes: 60, objective: 'divergence-all', seed });
    nmf.fit(ratings);
    expect(favourite(nmf, ratings, 'u4')).toBe('i4');
    expect(favourite(nmf, ratings, 'u5')).toBe('i5');
  });
});

describe('ALS-UV', () => {
  it('solves each row exactly: the gradient at its answer is zero', () => {
    const { n, m, users, items, columns } = problem('squared-known');
    const rows = rowsOf(columns.user, columns.item, columns.value, n);
    const lambda = 0.1;
    const als = new Als({ users: n, items: m, k: users.k, passes: 0, lambda, seed });
    als.improve(users, rows, items);
    for (let u = 0; u < n; u++) {
      const count = (rows.start[u + 1] ?? 0) - (rows.start[u] ?? 0);
      for (let f = 0; f < users.k; f++) {
        const own = users.data[u * users.k + f] ?? 0;
        let slope = (lambda * count + 1e-6) * own;
        for (let r = rows.start[u] ?? 0; r < (rows.start[u + 1] ?? 0); r++) {
          const item = rows.neighbour[r] ?? 0;
          slope -=
            ((rows.value[r] ?? 0) - users.dot(u, items, item)) *
            (items.data[item * users.k + f] ?? 0);
        }
        expect(Math.abs(slope)).toBeLessThan(1e-4);
      }
    }
  });

  it('recovers ratings of rank one from two thirds of them', async () => {
    const lines: [string, string, number][] = [];
    for (let u = 1; u <= 8; u++) {
      for (let i = 1; i <= 8; i++) if ((u + i) % 3 > 0) lines.push([`u${u}`, `i${i}`, (u * i) / 8]);
    }
    const ratings = await table(...lines);
    const als = new Als({ users: 8, items: 8, k: 1, lambda: 0, passes: 50, seed });
    als.fit(ratings);
    const predicted = scores(als, ratings.users.indexOf('u3'), 8)[ratings.items.indexOf('i6')] ?? 0;
    expect(predicted).toBeCloseTo(18 / 8, 2);
  });

  it('answers 0 for a user without ratings, and stays finite with λ = 0 and a large k', async () => {
    const ratings = await table(['a', 'x', 4], ['b', 'y', 2]);
    const als = new Als({ users: 3, items: 2, k: 5, lambda: 0, passes: 3, seed });
    als.fit(ratings);
    expect(scores(als, 2, 2)).toEqual([0, 0]);
    for (const score of scores(als, 0, 2)) expect(Number.isFinite(score)).toBe(true);
  });
});

describe('SGD', () => {
  const settings = { k: 4, rate: 0.1, decay: 0.001, passes: 150, seed };

  it('with negatives sees the checkerboard, and is the same for the same seed', async () => {
    const { ratings, users, items } = await board();
    const fitted = () => {
      const sgd = new Sgd({ users, items, negatives: 3, ...settings });
      sgd.fit(ratings);
      return sgd;
    };
    const sgd = fitted();
    expect(favourite(sgd, ratings, 'u4')).toBe('i4');
    expect(favourite(sgd, ratings, 'u5')).toBe('i5');
    expect(scores(fitted(), 3, items)).toEqual(scores(sgd, 3, items));
  });

  it('without negatives fits the values: good items above bad ones', async () => {
    const lines: [string, string, number][] = [];
    for (let user = 0; user < 10; user++) {
      for (let item = 0; item < 6; item++) {
        if ((user + item) % 3 > 0) lines.push([`u${user}`, `i${item}`, item < 3 ? 5 : 1]);
      }
    }
    const ratings = await table(...lines);
    const sgd = new Sgd({ users: 10, items: 6, negatives: 0, ...settings, rate: 0.05 });
    sgd.fit(ratings);
    const list = scores(sgd, 0, 6);
    const of = (item: string) => list[ratings.items.indexOf(item)] ?? 0;
    expect(Math.min(of('i0'), of('i1'), of('i2'))).toBeGreaterThan(
      Math.max(of('i3'), of('i4'), of('i5')),
    );
  });

  it('answers a user without ratings by the biases: the popular before the rare', async () => {
    const lines: [string, string, number][] = [];
    for (let user = 0; user < 20; user++) lines.push([`u${user}`, 'hit', 4]);
    lines.push(['u0', 'rare', 4]);
    const ratings = await table(...lines);
    const sgd = new Sgd({ users: 21, items: 2, negatives: 2, ...settings, passes: 20 });
    sgd.fit(ratings);
    const [hit, rare] = scores(sgd, 20, 2);
    expect(hit).toBeGreaterThan(rare ?? 0);
  });
});

describe('random scores', () => {
  it('are the same for the same seed, and change from one question to the next', () => {
    const first = new RandomScores(seed);
    const list = scores(first, 0, 4);
    expect(scores(new RandomScores(seed), 0, 4)).toEqual(list);
    expect(scores(first, 0, 4)).not.toEqual(list);
  });
});
