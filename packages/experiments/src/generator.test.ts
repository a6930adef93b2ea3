import { describe, expect, it } from 'vitest';
import { generateCatalogue } from './catalogue.ts';
import { type GeneratedRating, generateRatings } from './generator.ts';

/** MovieLens-1M with a quarter of its users. */
const shape = { users: 1_510, items: 3_706, ratings: 250_052, seed: 7 };

/** Counts per key, ascending. */
function counts(ratings: readonly GeneratedRating[], key: 'user' | 'item'): number[] {
  const tally = new Map<string, number>();
  for (const rating of ratings) tally.set(rating[key], (tally.get(rating[key]) ?? 0) + 1);
  return [...tally.values()].sort((a, b) => a - b);
}

function gini(ascending: readonly number[]): number {
  const n = ascending.length;
  const total = ascending.reduce((sum, x) => sum + x, 0);
  return ascending.reduce((sum, x, i) => sum + (2 * (i + 1) - n - 1) * x, 0) / (n * total);
}

/**
 * Share of the ratings whose item is the one that most often comes after what the same user rated
 * before.
 */
function mostFrequentFollowers(ratings: readonly GeneratedRating[]): number {
  const last = new Map<string, string>();
  const followers = new Map<string, Map<string, number>>();
  for (const { user, item } of ratings) {
    const before = last.get(user) ?? '';
    const tally = followers.get(before) ?? new Map<string, number>();
    tally.set(item, (tally.get(item) ?? 0) + 1);
    followers.set(before, tally);
    last.set(user, item);
  }
  let most = 0;
  for (const tally of followers.values()) most += Math.max(...tally.values());
  return most / ratings.length;
}

describe('generated ratings', { timeout: 60_000 }, () => {
  const ratings = [...generateRatings(shape)];

  it('are the same for the same seed and others for another', () => {
    const small = { users: 50, items: 40, ratings: 500 };
    expect([...generateRatings({ ...small, seed: 3 })]).toEqual([
      ...generateRatings({ ...small, seed: 3 }),
    ]);
    expect([...generateRatings({ ...small, seed: 3 })]).not.toEqual([
      ...generateRatings({ ...small, seed: 4 }),
    ]);
  });

  it('are exactly as many as asked, in order of time, from 1 to 5', () => {
    expect(ratings).toHaveLength(shape.ratings);
    const isLate = ratings.some(({ time }, i) => i > 0 && time < (ratings[i - 1]?.time ?? 0));
    expect(isLate).toBe(false);
    expect([...new Set(ratings.map(({ value }) => value))].sort()).toEqual([1, 2, 3, 4, 5]);
  });

  it('have MovieLens-1M’s inequality among users (gini .53) and items (.63), within .1', () => {
    expect(Math.abs(gini(counts(ratings, 'user')) - 0.53)).toBeLessThan(0.1);
    expect(Math.abs(gini(counts(ratings, 'item')) - 0.63)).toBeLessThan(0.1);
  });

  it('have a mean near 3.6, as people who choose what they rate give', () => {
    const mean = ratings.reduce((sum, { value }) => sum + value, 0) / ratings.length;
    expect(Math.abs(mean - 3.58)).toBeLessThan(0.2);
  });

  it('bring new users and new items until the end', () => {
    const lastTenth = ratings.slice(-10_000);
    const before = ratings.slice(0, -10_000);
    for (const key of ['user', 'item'] as const) {
      const known = new Set(before.map((rating) => rating[key]));
      expect(lastTenth.some((rating) => !known.has(rating[key]))).toBe(true);
    }
    expect(counts(ratings, 'user')).toHaveLength(shape.users);
  });

  it('come in bursts: the last user to rate is soon back', () => {
    let near = 0;
    for (let i = 0; i + 60 < ratings.length; i += 100) {
      const next = ratings.slice(i + 1, i + 61);
      if (next.some(({ user }) => user === ratings[i]?.user)) near++;
    }
    // 60 ratings ahead with 24 users active: spread evenly over 1,510 users it would be 1 in 25.
    expect(near / (shape.ratings / 100)).toBeGreaterThan(0.7);
  });

  it('repeat no item for a user with plenty left to rate', () => {
    const pairs = new Set<string>();
    const sparse = [...generateRatings({ users: 300, items: 2_000, ratings: 10_000, seed: 5 })];
    for (const { user, item } of sparse) pairs.add(`${user} ${item}`);
    expect(pairs.size).toBe(sparse.length);
  });

  it('show tastes: the two favourite categories of a user take most of that user’s ratings', () => {
    const categoryOf = new Map(
      generateCatalogue(shape).map((item) => [item.id, item.categories[0] ?? '']),
    );
    const byUser = new Map<string, Map<string, number>>();
    for (const { user, item } of ratings) {
      const tally = byUser.get(user) ?? new Map<string, number>();
      const category = categoryOf.get(item) ?? '';
      tally.set(category, (tally.get(category) ?? 0) + 1);
      byUser.set(user, tally);
    }
    const shares = [...byUser.values()].map((tally) => {
      const descending = [...tally.values()].sort((a, b) => b - a);
      const total = descending.reduce((sum, x) => sum + x, 0);
      return ((descending[0] ?? 0) + (descending[1] ?? 0)) / total;
    });
    // Without tastes 12 categories would leave about 1 in 4 to any two of them.
    expect(shares.reduce((sum, x) => sum + x, 0) / shares.length).toBeGreaterThan(0.4);
  });

  it('follow series: with a setting of 0 the item rated last says much less of the next', () => {
    const small = { users: 300, items: 1_000, ratings: 40_000, seed: 3 };
    const following = mostFrequentFollowers([...generateRatings(small)]);
    const without = mostFrequentFollowers([...generateRatings({ ...small, sequences: 0 })]);
    // A quarter of the ratings try to follow a series, and about half of these find a next part.
    expect(following).toBeGreaterThan(without + 0.08);
  });

  it('still come when the world is tiny, one user, one item, or no rating at all', () => {
    expect([...generateRatings({ users: 1, items: 1, ratings: 3 })]).toHaveLength(3);
    expect([...generateRatings({ users: 5, items: 3, ratings: 40 })]).toHaveLength(40);
    expect([...generateRatings({ users: 9, items: 9, ratings: 4 })]).toHaveLength(4);
    expect([...generateRatings({ ratings: 0 })]).toEqual([]);
  });

  it('are refused for counts that make no sense', () => {
    expect(() => generateRatings({ users: 0 }).next()).toThrow('users');
    expect(() => generateRatings({ items: 1.5 }).next()).toThrow('items');
    expect(() => generateRatings({ sequences: 1.5 }).next()).toThrow('sequences');
  });
});

describe('a generated catalogue', () => {
  it('names every item the ratings name, once, with a title of its own', () => {
    const catalogue = generateCatalogue({ items: 5_000, seed: 2 });
    expect(new Set(catalogue.map(({ id }) => id)).size).toBe(5_000);
    expect(new Set(catalogue.map(({ title }) => title)).size).toBe(5_000);
    const ids = new Set(catalogue.map(({ id }) => id));
    for (const { item } of generateRatings({ users: 50, items: 5_000, ratings: 2_000, seed: 2 })) {
      expect(ids.has(item)).toBe(true);
    }
  });

  it('gives each item one to three different categories', () => {
    for (const { categories } of generateCatalogue({ items: 300, seed: 11 })) {
      expect(categories.length).toBeGreaterThanOrEqual(1);
      expect(categories.length).toBeLessThanOrEqual(3);
      expect(new Set(categories).size).toBe(categories.length);
    }
  });
});
