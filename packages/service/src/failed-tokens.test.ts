import { describe, expect, it } from 'vitest';
import { FailedTokens } from './failed-tokens.ts';

describe('the delay of an address that sent wrong tokens', () => {
  let now = 0;
  const opened = () => new FailedTokens(() => now);
  const fail = (failed: FailedTokens, times: number, address = 'a') => {
    for (let nth = 0; nth < times; nth++) failed.add(address);
  };

  it('begins after five within a minute, and doubles from 100 ms to 2 s', () => {
    const failed = opened();
    fail(failed, 4);
    expect(failed.delayOf('a')).toBe(0);
    const delays = Array.from({ length: 8 }, () => {
      fail(failed, 1);
      return failed.delayOf('a');
    });
    expect(delays).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
    expect(failed.delayOf('b')).toBe(0);
  });

  it('does not come from five that are spread over more than a minute', () => {
    const failed = opened();
    for (let nth = 0; nth < 20; nth++) {
      fail(failed, 1);
      expect(failed.delayOf('a')).toBe(0);
      now += 15_000;
    }
  });

  it('goes as the failures age, and at once with a right token', () => {
    const failed = opened();
    fail(failed, 5);
    now += 30_000;
    fail(failed, 1);
    expect(failed.delayOf('a')).toBe(200);
    now += 30_000;
    expect(failed.delayOf('a')).toBe(0);
    fail(failed, 50);
    failed.clear('a');
    expect(failed.delayOf('a')).toBe(0);
  });

  it('is known of 10,000 addresses: the one that has been quiet for longest goes first', () => {
    const failed = opened();
    fail(failed, 5, 'first');
    fail(failed, 5, 'second');
    fail(failed, 1, 'first');
    for (let nth = 0; nth < 9_999; nth++) failed.add(`other-${nth}`);
    expect(failed.addresses).toBe(10_000);
    expect([failed.delayOf('first'), failed.delayOf('second')]).toEqual([200, 0]);
  });

  it('is not remembered for ever: addresses that are quiet for a minute are dropped', () => {
    const failed = opened();
    for (let nth = 0; nth < 100; nth++) failed.add(`other-${nth}`);
    now += 60_000;
    failed.add('a');
    expect(failed.addresses).toBe(1);
  });
});
