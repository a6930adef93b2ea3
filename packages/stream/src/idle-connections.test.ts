import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
// Replaces the function when it is loaded.
import './client.ts';

const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue');

function queueOf(sent: string[]) {
  const logger = { debug: () => undefined };
  const queue = new RequestQueue({ maxInFlightRequests: 1, requestTimeout: 1_000, logger });
  const push = (correlationId: number) =>
    queue.push({
      entry: { correlationId, resolve: () => undefined, reject: () => undefined },
      expectResponse: true,
      sendRequest: () => sent.push(`request ${correlationId}`),
    });
  const answer = (correlationId: number) =>
    queue.fulfillRequest({ correlationId, payload: null, size: 0 });
  return { queue, push, answer };
}

describe('a connection of kafkajs', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('has no timer while no request waits', () => {
    const { push, answer } = queueOf([]);
    push(1);
    answer(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('sends what waited, after an answer or after the broker has slowed it down', () => {
    const sent: string[] = [];
    const { queue, push, answer } = queueOf(sent);
    push(1);
    push(2);
    expect(sent).toEqual(['request 1']);
    answer(1);
    expect(sent).toEqual(['request 1', 'request 2']);
    answer(2);
    queue.maybeThrottle(500);
    push(3);
    expect(sent).toHaveLength(2);
    vi.advanceTimersByTime(600);
    expect(sent).toEqual(['request 1', 'request 2', 'request 3']);
  });
});
