import { describe, expect, it } from 'vitest';
import {
  type DeadLetter,
  type Frame,
  HISTORY_FRAMES,
  LETTERS,
  type ServiceState,
  seriesNames,
} from './frame.ts';
import { isServing, LiveModel, troubleOf } from './live-model.ts';

const nthOf = (name: (typeof seriesNames)[number]): number => seriesNames.indexOf(name);

function letter(offset: number): DeadLetter {
  return { offset, at: offset, reason: 'not-json', source: 'ratings/0@1', bytes: 3, preview: 'x' };
}

function frame(nth: number, letters: readonly DeadLetter[] = []): Frame {
  const values = seriesNames.map(() => nth);
  return { at: 1_700_000_000_000 + nth * 1000, values, services: [], letters };
}

/** The memory that the series have reserved. */
function bytesOf({ series }: LiveModel): number {
  const columns = [series.times, ...seriesNames.map((name) => series.series(name))];
  return columns.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
}

describe('what an open page knows', () => {
  it('after a day is as large as after a quarter of an hour', () => {
    const model = new LiveModel();
    const before = bytesOf(model);
    for (let nth = 0; nth < 86_400; nth++)
      model.add(frame(nth, nth % 10 === 0 ? [letter(nth)] : []));
    expect(bytesOf(model)).toBe(before);
    expect(before).toBeLessThan(1 << 20);
    expect(model.series.length).toBe(HISTORY_FRAMES);
    expect(model.letters).toHaveLength(LETTERS);
    expect(model.letters[0]?.offset).toBe(86_390);
  });

  it('is at every moment the last frames in their order, in one piece', () => {
    const model = new LiveModel();
    for (let nth = 0; nth < 3 * HISTORY_FRAMES; nth++) {
      model.add(frame(nth));
      const times = model.series.times;
      const lag = model.series.series('lagUser');
      const length = Math.min(nth + 1, HISTORY_FRAMES);
      expect([times.length, lag.length]).toEqual([length, length]);
      expect([lag[0], lag.at(-1)]).toEqual([nth + 1 - length, nth]);
      expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeCloseTo(length - 1, 6);
    }
  });

  it('starts over with the history that comes after a reconnection', () => {
    const model = new LiveModel();
    for (let nth = 0; nth < 5; nth++) model.add(frame(nth, [letter(nth)]));
    const samples = [7, 8].map((nth) => ({ at: nth * 1000, values: seriesNames.map(() => nth) }));
    model.restart({ names: seriesNames, samples, services: [], letters: [letter(3), letter(4)] });
    expect([...model.series.times]).toEqual([7, 8]);
    expect(model.letters.map(({ offset }) => offset)).toEqual([4, 3]);
  });

  it('has a gap where nothing was measured, also after a history has told it', () => {
    const model = new LiveModel();
    const values = seriesNames.map((_, nth) => (nth === nthOf('aucAll') ? null : 1));
    model.add({ at: 1000, values, services: [], letters: [] });
    expect(model.series.latest('aucAll')).toBeNaN();
    const told = new LiveModel();
    const samples = model.series.samples();
    told.restart({ names: seriesNames, samples, services: [], letters: [] });
    expect(told.series.latest('aucAll')).toBeNaN();
    expect(told.series.latest('aucCold')).toBe(1);
  });

  it('is not mixed with the figures of a server of another version', () => {
    const history = { names: ['else'], samples: [], services: [], letters: [] };
    expect(() => new LiveModel().restart(history)).toThrow('load this page again');
  });

  it('tells when the dead letters changed, and only then', () => {
    const model = new LiveModel();
    model.add(frame(0, [letter(1)]));
    const { letters } = model;
    model.add(frame(1));
    expect(model.letters).toBe(letters);
    model.add(frame(2, [letter(2)]));
    expect(model.letters).not.toBe(letters);
  });
});

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
