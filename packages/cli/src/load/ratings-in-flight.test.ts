import { expect, it } from 'vitest';
import { RatingsInFlight } from './ratings-in-flight.ts';

it('a rating waits until its own shard has applied its own partition so far', () => {
  const flight = new RatingsInFlight();
  flight.add(0, 3, { offset: 10, dueAt: 100 });
  flight.add(1, 3, { offset: 11, dueAt: 101 });
  flight.add(0, 3, { offset: 12, dueAt: 102 });
  flight.add(0, 4, { offset: 5, dueAt: 103 });
  expect(flight.applied(0, 3, 9)).toEqual([]);
  expect(flight.oldest).toBe(100);
  expect(flight.applied(0, 3, 11)).toEqual([100]);
  expect([flight.count, flight.oldest]).toEqual([3, 101]);
  expect(flight.applied(0, 4, 5)).toEqual([103]);
  expect(flight.applied(0, 3, 12)).toEqual([102]);
  expect(flight.applied(1, 3, 12)).toEqual([101]);
  expect([flight.count, flight.oldest]).toEqual([0, undefined]);
  expect(flight.applied(7, 7, 1)).toEqual([]);
});

it('many ratings leave in their order, each once', () => {
  const flight = new RatingsInFlight();
  const left: number[] = [];
  for (let offset = 0; offset < 20_000; offset++) {
    flight.add(0, 0, { offset, dueAt: offset });
    if (offset % 7 === 0) left.push(...flight.applied(0, 0, offset - 3));
  }
  left.push(...flight.applied(0, 0, 20_000));
  expect(left).toEqual(Array.from({ length: 20_000 }, (_, at) => at));
});

it('those that were never applied are told when it is given up', () => {
  const flight = new RatingsInFlight();
  flight.add(0, 0, { offset: 0, dueAt: 1 });
  flight.add(0, 0, { offset: 1, dueAt: 2 });
  flight.applied(0, 0, 0);
  expect(flight.giveUp()).toEqual([2]);
  expect(flight.count).toBe(0);
});
