/**
 * Ratings and requests come at times that are drawn in advance (an open loop): a system that falls
 * behind gets no fewer of them. What is sent late counts from the time for which it was drawn.
 * Arrivals are a Poisson process; in a burst its rate is higher.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '@freshet/model';

export interface ArrivalOptions {
  /** Mean arrivals per second outside bursts. */
  readonly rate: number;
  /** The rate in a burst, as a multiple; 1: no bursts. */
  readonly burst: number;
}

/** A burst is the last second of every ten. */
const EVERY_MS = 10_000;
const QUIET_MS = 9_000;

export class Arrivals {
  readonly #options: ArrivalOptions;
  readonly #random: Random;
  /** The time of the next arrival, in ms since the beginning. */
  #next = 0;

  constructor(options: ArrivalOptions, random: Random) {
    this.#options = options;
    this.#random = random;
    this.#advance();
  }

  /** The times of the next arrivals up to `now`, in ms since the beginning; at most `limit`. */
  take(now: number, limit: number): number[] {
    const times: number[] = [];
    while (this.#next <= now && times.length < limit) {
      times.push(this.#next);
      this.#advance();
    }
    return times;
  }

  /** How many arrivals up to `now` were not taken; they are taken by counting. */
  skip(now: number): number {
    let skipped = 0;
    for (; this.#next <= now; skipped++) this.#advance();
    return skipped;
  }

  /** Draws how much must have passed, and walks through phases of different rates until it has. */
  #advance(): void {
    const { rate, burst } = this.#options;
    let due = -Math.log(1 - this.#random.next());
    for (;;) {
      const phase = this.#next % EVERY_MS;
      const isBurst = phase >= QUIET_MS;
      const perMs = (rate * (isBurst ? burst : 1)) / 1_000;
      const left = (isBurst ? EVERY_MS : QUIET_MS) - phase;
      if (due <= left * perMs) {
        this.#next += due / perMs;
        return;
      }
      due -= left * perMs;
      this.#next += left;
    }
  }
}

export interface Schedule {
  /** When the schedule begins, by `performance.now`. */
  readonly began: number;
  readonly durationMs: number;
  readonly signal: AbortSignal;
}

interface OpenLoop extends Schedule {
  readonly arrivals: Arrivals;
  /** How often to look for what is due: on average it is sent half of this time late. */
  readonly tickMs: number;
  /** How many more may be sent now. */
  readonly room: () => number;
  /** `dueAt`: the scheduled times, by `performance.now`. Must not wait. */
  readonly send: (dueAt: readonly number[]) => void;
}

/** Returns how many were due and could not be sent before the end. */
export async function openLoop(loop: OpenLoop): Promise<number> {
  const { arrivals, began, signal, tickMs, room, send } = loop;
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
    await pause(tickMs);
  }
}
