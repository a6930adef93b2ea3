import { describe, expect, it } from 'vitest';
import type { ServiceState } from './frame.ts';
import { isServing, troubleOf } from './health.ts';

function state(service: string, changes: Partial<ServiceState> = {}): ServiceState {
  const unknown = { startedAt: null, memoryBytes: null, loopDelaySeconds: null, version: null };
  return { service, address: 'x:1', downSince: null, waitingFor: null, ...unknown, ...changes };
}

describe('the health of a service', () => {
  it('is told when it does not answer or is not ready', () => {
    expect(troubleOf('scorer', [state('scorer'), state('updater', { downSince: 1 })])).toBeNull();
    expect(troubleOf('scorer', [state('scorer', { downSince: 1 })])).toBe('does not answer');
    expect(troubleOf('scorer', [state('scorer', { waitingFor: 'Kafka' })])).toBe('not ready yet');
    expect(troubleOf('scorer', [])).toBeNull();
  });

  it('of several processes says how many are in trouble; one that serves is enough to serve', () => {
    const updaters = [state('updater'), state('updater', { downSince: 1 })];
    expect(troubleOf('updater', updaters)).toBe('1 of 2 does not answer');
    expect(isServing('updater', updaters)).toBe(true);
    expect(isServing('updater', updaters.slice(1))).toBe(false);
    expect(isServing('scorer', updaters)).toBe(false);
  });
});
