import { describe, expect, it } from 'vitest';
import { MetricsPage } from './metrics-page.ts';

const page = MetricsPage.parse(`# HELP applied How many?
# TYPE applied counter
applied{side="user"} 12
applied{side="item"} 5 1700000000000
odd{text="a \\"b\\", {c}\\\\ \\n"} 1
unmeasured{users="all"} Nan
plain 3.5e-3
down -Inf
latency_bucket{le="0.1",side="user"} 1
latency_bucket{le="+Inf",side="user"} 4
latency_bucket{le="0.1",side="item"} 2
latency_bucket{le="+Inf",side="item"} 2
this is no metric at all
`);

describe('a page of metrics', () => {
  it('is read by name and labels', () => {
    expect(page.sum('applied')).toBe(17);
    expect(page.sum('applied', { side: 'item' })).toBe(5);
    expect(page.sum('plain')).toBe(0.0035);
    expect(page.sum('down')).toBe(Number.NEGATIVE_INFINITY);
    expect(page.label('odd', 'text')).toBe('a "b", {c}\\ \n');
  });

  it('gives every series with its labels', () => {
    expect(page.series('applied', { side: 'user' })).toEqual([
      { name: 'applied', labels: { side: 'user' }, value: 12 },
    ]);
    expect(page.series('unmeasured')).toHaveLength(1);
    expect(page.all()).toHaveLength(10);
  });

  it('has nothing to say of what is absent or not yet measured', () => {
    expect(page.sum('absent')).toBeNaN();
    expect(page.values('applied', { side: 'other' })).toEqual([]);
    expect(page.sum('unmeasured')).toBeNaN();
    expect(page.label('absent', 'x')).toBeUndefined();
  });

  it('adds the buckets of a histogram over its series', () => {
    expect([...page.buckets('latency')]).toEqual([
      [0.1, 3],
      [Number.POSITIVE_INFINITY, 6],
    ]);
    expect(page.buckets('latency', { side: 'item' }).get(0.1)).toBe(2);
  });
});
