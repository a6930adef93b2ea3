import { expect, it } from 'vitest';
import { Latencies } from './load-figures.ts';

it('quantiles are those of a sorted list, at most 2 % too high', () => {
  const latencies = new Latencies();
  const values = Array.from({ length: 10_000 }, (_, at) => 0.1 * 1.001 ** ((at * 7_919) % 10_000));
  for (const value of values) latencies.add(value);
  const sorted = [...values].sort((a, b) => a - b);
  for (const share of [0.01, 0.5, 0.9, 0.99, 0.999]) {
    const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
    const ratio = latencies.quantile(share) / exact;
    expect(ratio, String(share)).toBeGreaterThan(0.999999);
    expect(ratio, String(share)).toBeLessThan(1.0201);
  }
  expect(latencies.quantile(1)).toBe(sorted.at(-1));
  expect(latencies.max).toBe(sorted.at(-1));
  expect(latencies.count).toBe(10_000);
});

it('one latency is every quantile, and none is not a number', () => {
  const latencies = new Latencies();
  expect(latencies.quantile(0.5)).toBeNaN();
  expect(latencies.max).toBeNaN();
  latencies.add(12);
  expect(latencies.quantile(0.5)).toBe(12);
  expect(latencies.quantile(0.99)).toBe(12);
});

it('a latency of zero is one', () => {
  const latencies = new Latencies();
  latencies.add(0);
  expect(latencies.quantile(0.99)).toBe(0);
});
