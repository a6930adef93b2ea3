import { expect, it } from 'vitest';
import { EntityCache } from './entity-cache.ts';

const entity = (id: string, bytes: number, isChanged = false) => ({ id, bytes, isChanged });

it('lets go of whoever was not asked for the longest, until the rest fits', () => {
  const cache = new EntityCache<ReturnType<typeof entity>>();
  for (const id of ['a', 'b', 'c']) cache.set(entity(id, 100));
  cache.get('a');
  cache.trim(250);
  expect(['a', 'b', 'c'].filter((id) => cache.has(id))).toEqual(['a', 'c']);
  expect(cache.bytes).toBe(200);
});

it('keeps whoever differs from what the store holds, whatever it costs', () => {
  const cache = new EntityCache<ReturnType<typeof entity>>();
  cache.set(entity('a', 100, true));
  cache.set(entity('b', 100));
  cache.trim(0);
  expect([cache.has('a'), cache.has('b')]).toEqual([true, false]);
});

it('counts what has grown, and forgets what is deleted', () => {
  const cache = new EntityCache<{ id: string; bytes: number; isChanged: boolean }>();
  const a = entity('a', 100);
  cache.set(a);
  a.bytes = 300;
  cache.weigh(a);
  expect(cache.bytes).toBe(300);
  cache.delete('a');
  expect(cache.bytes).toBe(0);
});
