import { Random } from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { AliasTable } from './alias-table.ts';

const seed = 20_240_501;

describe('an alias table', () => {
  it('draws each outcome as often as its weight says, and never one of weight 0', () => {
    const weights = [1, 0, 4, 0.5, 10, 2.5];
    const table = new AliasTable(weights);
    const random = new Random(seed);
    const counts = weights.map(() => 0);
    const n = 180_000;
    for (let i = 0; i < n; i++) {
      const outcome = table.draw(random);
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    weights.forEach((weight, outcome) => {
      const p = weight / 18;
      const share = (counts[outcome] ?? 0) / n;
      expect(Math.abs(share - p)).toBeLessThanOrEqual(5 * Math.sqrt((p * (1 - p)) / n));
    });
  });

  it('refuses weights that sum to nothing', () => {
    expect(() => new AliasTable([0, 0])).toThrow(RangeError);
    expect(() => new AliasTable([])).toThrow(RangeError);
  });
});
