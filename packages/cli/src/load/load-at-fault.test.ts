/** What is shown while the system under load does not answer. */
import { Random } from '@freshet/model';
import { NO_FACTS } from '@freshet/store';
import { expect, it } from 'vitest';
import { Crowd } from './crowd.ts';
import { LoadFigures } from './load-figures.ts';
import { Arrivals, type Schedule } from './open-loop.ts';
import { RatingLoad } from './rating-load.ts';
import { RequestLoad } from './request-load.ts';

const arrivals = () => new Arrivals({ rate: 1_000, burst: 1 }, new Random(1));
const crowd = new Crowd({ users: 10, items: 10, skew: 1, newUsers: 0 }, new Random(2));
const { signal } = new AbortController();
const schedule = (): Schedule => ({ began: performance.now(), durationMs: 50, signal });

it('a request that failed is an error, and no fast answer', async () => {
  const figures = new LoadFigures();
  const told: string[] = [];
  const scorer = { url: 'http://127.0.0.1:1', token: '' };
  const onError = (message: string) => void told.push(message);
  const load = new RequestLoad({ arrivals: arrivals(), crowd, scorer, figures, onError });
  await load.send(schedule());
  while (load.waiting > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  load.close();
  expect(told[0]).toMatch(/ECONNREFUSED/);
  expect(figures.errors).toBe(figures.sent);
  expect(figures.latencies.count).toBe(0);
});

it('a rating that Kafka does not acknowledge waits, and it is told for how long', async () => {
  const load = new RatingLoad({
    ...{ arrivals: arrivals(), crowd, topic: 'ratings', topicId: 'id', partitions: 1, shards: 1 },
    publisher: { appendAll: () => new Promise(() => {}) },
    store: { head: async () => ({ fence: null, position: null, commit: null, facts: NO_FACTS }) },
    figures: new LoadFigures(),
    onError: () => {},
  });
  expect(load.oldestMs).toBe(0);
  await load.send(schedule());
  expect(load.waiting).toBeGreaterThan(0);
  expect(load.oldestMs).toBeGreaterThan(0);
  const { waiting } = load;
  expect(load.close()).toBe(waiting);
});
