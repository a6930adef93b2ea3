/**
 * Keeps to a schedule: sends everything at its time, whether what was sent before is done or not.
 * What there is no room for is sent late, with the time for which it was scheduled.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Arrivals } from './arrivals.ts';

export interface Schedule {
  /** When the schedule begins, by `performance.now`. */
  readonly began: number;
  readonly durationMs: number;
  /** Ends the schedule early. */
  readonly signal: AbortSignal;
}

interface OpenLoop extends Schedule {
  readonly arrivals: Arrivals;
  /** How many more may be sent now. */
  readonly room: () => number;
  /** `dueAt`: the scheduled times, by `performance.now`. Must not wait. */
  readonly send: (dueAt: readonly number[]) => void;
}

const TICK_MS = 5;

/** Returns how many were due and could not be sent before the end. */
export async function openLoop(loop: OpenLoop): Promise<number> {
  const { arrivals, began, signal, room, send } = loop;
  let end = loop.durationMs;
  for (;;) {
    const now = performance.now() - began;
    if (signal.aborted) end = Math.min(end, now);
    for (let free = room(); free > 0; free = room()) {
      const due = arrivals.take(Math.min(now, end), free);
      if (due.length === 0) break;
      send(due.map((at) => began + at));
    }
    if (now >= end) return arrivals.skip(end);
    await pause(TICK_MS);
  }
}
