import { describe, expect, it } from 'vitest';
import { type Listed, moves, movesInWords } from './list-moves.ts';

const list = (...items: string[]): Listed[] => items.map((item) => ({ item, score: 1 }));

const tea = { name: 'tea', followers: new Set(['a', 'c']) };

describe('the moves of a list', () => {
  it('are the places that each item gained or lost', () => {
    const moved = moves(list('a', 'b', 'c'), list('c', 'b', 'd', 'a'), tea);
    expect(moved.map(({ item, gained }) => [item, gained])).toEqual([
      ['c', 2],
      ['b', 0],
      ['d', null],
      ['a', -3],
    ]);
    expect(movesInWords(moved)).toBe('1 new, 2 moved');
  });

  it('are none when nothing moved', () => {
    expect(movesInWords(moves(list('a', 'b'), list('a', 'b'), tea))).toBe('the list is as it was');
  });

  it('tell which of those that went up come after what was rated', () => {
    const moved = moves(list('a', 'b', 'c'), list('c', 'b', 'd', 'a'), tea);
    expect(moved.map(({ after }) => after)).toEqual(['tea', undefined, undefined, undefined]);
  });
});
