import { describe, expect, it } from 'vitest';
import { loadTable, selectColumns, sliceColumns } from './rating-table.ts';

const rating = (user: string, item: string, time: number | undefined, value = 3) => ({
  user,
  item,
  value,
  time,
});

describe('a table of ratings', () => {
  it('is in order of time, then of line, and numbers users and items as they appear', async () => {
    const table = await loadTable([
      [rating('late', 'x', 9), rating('second', 'y', 5)],
      [rating('first', 'z', 5), rating('zero', 'y', 1)],
    ]);
    expect([...table.time]).toEqual([1, 5, 5, 9]);
    expect(table.users).toEqual(['zero', 'second', 'first', 'late']);
    expect([...table.user]).toEqual([0, 1, 2, 3]);
    expect(table.items).toEqual(['y', 'z', 'x']);
    expect([...table.item]).toEqual([0, 0, 1, 2]);
  });

  it('keeps the order of the lines when there are no times, or all are equal', async () => {
    const untimed = await loadTable([[rating('a', 'x', undefined), rating('b', 'y', undefined)]]);
    expect(untimed.timed).toBe(false);
    expect(untimed.users).toEqual(['a', 'b']);
    const equal = await loadTable([[rating('a', 'x', 7), rating('b', 'y', 7)]]);
    expect(equal.timed).toBe(true);
    expect(equal.users).toEqual(['a', 'b']);
  });

  it('has ratings of equal time in another order for each seed, all others where they were', async () => {
    const lines = Array.from({ length: 40 }, (_, at) => rating(`u${at}`, 'x', Math.floor(at / 10)));
    const users = async (shuffleTies?: number) =>
      (await loadTable([lines], shuffleTies === undefined ? {} : { shuffleTies })).users;
    const plain = lines.map(({ user }) => user);
    expect(await users()).toEqual(plain);
    expect(await users(1)).toEqual(await users(1));
    expect(await users(1)).not.toEqual(await users(2));
    for (let start = 0; start < 40; start += 10) {
      const stretch = (await users(1)).slice(start, start + 10);
      expect(stretch).not.toEqual(plain.slice(start, start + 10));
      expect(new Set(stretch)).toEqual(new Set(plain.slice(start, start + 10)));
    }
    const untimed = lines.map((line) => ({ ...line, time: undefined }));
    expect((await loadTable([untimed], { shuffleTies: 1 })).users).toEqual(plain);
  });

  it('places a line without a time right after the line before', async () => {
    const table = await loadTable([
      [rating('a', 'x', 5), rating('b', 'x', undefined), rating('c', 'x', 1)],
    ]);
    expect(table.users).toEqual(['c', 'a', 'b']);
  });

  it('grows past its first size and loses nothing', async () => {
    const batch = Array.from({ length: 70_000 }, (_, i) =>
      rating(`u${i % 10}`, `i${i % 7}`, i, i % 5),
    );
    const table = await loadTable([batch, batch]);
    expect(table.user).toHaveLength(140_000);
    expect(table.value.reduce((sum, v) => sum + v, 0)).toBe(280_000);
  });

  it('is empty for an empty file', async () => {
    const table = await loadTable([]);
    expect([table.users.length, table.user.length]).toEqual([0, 0]);
  });

  it('gives slices and selections of its columns', async () => {
    const table = await loadTable([
      [rating('a', 'x', 1, 1), rating('b', 'y', 2, 2), rating('c', 'z', 3, 3)],
    ]);
    expect([...sliceColumns(table, 1, 3).value]).toEqual([2, 3]);
    expect([...selectColumns(table, Uint32Array.of(0, 2)).value]).toEqual([1, 3]);
  });
});
