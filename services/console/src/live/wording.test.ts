import { describe, expect, it } from 'vitest';
import { bytes, costOfLag, count, duration, percent, rate, share } from './wording.ts';

describe('figures in words', () => {
  it('are short and carry their unit', () => {
    expect([0, 1, 9_999, 12_940, 2_500_000].map(count)).toEqual([
      '0',
      '1',
      '9,999',
      '12.9 k',
      '2.5 M',
    ]);
    expect([0, 0.34, 20, 12_000].map(rate)).toEqual(['0/s', '0.3/s', '20/s', '12 k/s']);
    const seconds = [0.0048, 0.04, 0.5, 1, 44.83, 600, 7_200, 200_000];
    const words = ['4.8 ms', '40 ms', '500 ms', '1 s', '44.8 s', '10 min', '2 h', '2 d'];
    expect(seconds.map(duration)).toEqual(words);
    expect([12, 2_048, 200 << 20].map(bytes)).toEqual(['12 B', '2 KB', '200 MB']);
    expect([0, 0.0003, 0.029].map(percent)).toEqual(['0 %', '0.03 %', '2.9 %']);
    expect([0, 0.004, 0.346, 1].map(share)).toEqual(['0 %', '0 %', '35 %', '100 %']);
  });

  it('are a dash where nothing is known', () => {
    expect([count, rate, duration, bytes, percent, share].map((say) => say(Number.NaN))).toEqual(
      Array(6).fill('–'),
    );
  });

  it('tell what the lag costs', () => {
    expect(costOfLag(214, 0.029)).toBe('214 ratings behind: costs about 2.9 % of AUC now.');
    expect(costOfLag(1, 0.0002)).toBe('1 rating behind: costs about 0.02 % of AUC now.');
    expect(costOfLag(0, 0)).toBe('Up to date: every rating produced has been applied.');
    expect(costOfLag(5, Number.NaN)).toBe('5 ratings behind; what that costs is not known.');
    expect(costOfLag(Number.NaN, Number.NaN)).toBe('The lag is not measured at the moment.');
  });
});
