import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { Histogram } from './histogram.ts';

it('is shown as Prometheus expects it: cumulative buckets, sum and count of each series', async () => {
  const histogram = new Histogram('took', 'How long?', [1, 5], ['side']);
  const users = histogram.labels({ side: 'user' });
  for (const value of [1, 2, 5, 6]) users.observe(value);
  histogram.observe({ side: 'user' }, 0.5);
  histogram.observe({ side: 'item' }, 3);
  histogram.zero({ side: 'item' });
  const registry = new Registry();
  registry.registerMetric(histogram as never);
  expect((await registry.metrics()).trim().split('\n')).toEqual([
    '# HELP took How long?',
    '# TYPE took histogram',
    'took_bucket{le="1",side="user"} 2',
    'took_bucket{le="5",side="user"} 4',
    'took_bucket{le="+Inf",side="user"} 5',
    'took_sum{side="user"} 14.5',
    'took_count{side="user"} 5',
    'took_bucket{le="1",side="item"} 0',
    'took_bucket{le="5",side="item"} 0',
    'took_bucket{le="+Inf",side="item"} 0',
    'took_sum{side="item"} 0',
    'took_count{side="item"} 0',
  ]);
});
