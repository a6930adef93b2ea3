import { Random } from '@freshet/model';
import { expect, it } from 'vitest';
import { Crowd, type CrowdOptions } from './crowd.ts';

const SEED = 11;
const DRAWS = 20_000;

function ratings(options: Partial<CrowdOptions>) {
  const all = { users: 1_000, items: 100, skew: 1, newUsers: 0, ...options };
  const crowd = new Crowd(all, new Random(SEED));
  return { crowd, drawn: Array.from({ length: DRAWS }, () => crowd.rating()) };
}

const share = (drawn: readonly { item: string }[], item: string) =>
  drawn.filter((rating) => rating.item === item).length / drawn.length;

it('items are rated by Zipf’s law', () => {
  const { drawn } = ratings({ skew: 1 });
  // The harmonic number of 100 is 5.187: the share of rank r is 1/(5.187 r).
  expect(share(drawn, 'load-i1')).toBeCloseTo(0.193, 1);
  expect(share(drawn, 'load-i10')).toBeCloseTo(0.019, 2);
});

it('without a skew all items are rated alike', () => {
  const { drawn } = ratings({ skew: 0 });
  expect(share(drawn, 'load-i1')).toBeCloseTo(0.01, 2);
  expect(share(drawn, 'load-i100')).toBeCloseTo(0.01, 2);
});

it('a share of the ratings comes from users who have never rated', () => {
  const { crowd, drawn } = ratings({ newUsers: 0.25 });
  const newcomers = drawn.filter(({ user }) => Number(user.slice('load-u'.length)) > 1_000);
  expect(new Set(newcomers.map(({ user }) => user)).size).toBe(newcomers.length);
  expect(newcomers.length / DRAWS).toBeCloseTo(0.25, 1);
  expect(crowd.lastUser).toBe(1_000 + newcomers.length);
});

it('every user and item can be told from a real one, and values are those of stars', () => {
  const { drawn } = ratings({ newUsers: 0.1 });
  const real = drawn.filter(({ user, item }) => !/^load-u\d+ load-i\d+$/.test(`${user} ${item}`));
  expect(real).toEqual([]);
  expect([...new Set(drawn.map(({ value }) => value))].sort()).toEqual([1, 2, 3, 4, 5]);
});
