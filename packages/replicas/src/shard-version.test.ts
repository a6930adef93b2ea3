import { expect, it } from 'vitest';
import { type Arrival, arrivalOf, type ShardVersion } from './shard-version.ts';

const held: ShardVersion = { epoch: 4, sequence: 6, next: 90 };

const cases: readonly (readonly [string, [number, number, number], Arrival])[] = [
  ['continues what is held', [4, 7, 90], 'next'],
  ['continues it under a new writer', [5, 7, 90], 'next'],
  ['is the one held', [4, 6, 80], 'known'],
  ['is older', [4, 5, 70], 'known'],
  ['is of a replaced writer, though it reaches further: the store lost it', [3, 9, 120], 'known'],
  ['comes after a gap', [4, 8, 95], 'gap'],
  ['starts earlier under a new writer: the store lost writes', [5, 5, 70], 'gap'],
  ['is the first of its shard: the store lost all that is held', [5, 1, 90], 'gap'],
];

it.each(cases)('a batch %s', (_, [epoch, sequence, from], expected) => {
  expect(arrivalOf({ epoch, sequence, from }, held)).toBe(expected);
});

it('a batch of a shard of which nothing is held continues nothing only if it is the first', () => {
  expect(arrivalOf({ epoch: 7, sequence: 1, from: 40 }, undefined)).toBe('next');
  expect(arrivalOf({ epoch: 7, sequence: 2, from: 0 }, undefined)).toBe('gap');
});
