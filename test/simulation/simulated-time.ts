/**
 * Time that passes only when the simulation says so: minutes of waiting take milliseconds, and
 * nothing depends on how fast the machine is. vitest's own fake timers look at every timer for each
 * one that is due, which took a third of the time of a history.
 */
import { vi } from 'vitest';

/** Whatever takes a turn of the event loop takes this long. */
const TURN_MS = 20;
const START_MS = 1_700_000_000_000;

interface Timer {
  at: number;
  /** Of two timers that are due at the same time, the one that was set first goes first. */
  order: number;
  readonly everyMs: number | undefined;
  readonly call: () => void;
}

const timers = new Set<Timer>();
let now = START_MS;
let order = 0;
/** No timer is due before this. */
let soonest = Number.POSITIVE_INFINITY;

function set(timer: Timer, delayMs: number): void {
  timer.at = now + Math.max(1, delayMs);
  timer.order = order++;
  soonest = Math.min(soonest, timer.at);
  timers.add(timer);
}

function setTimer(call: () => void, delayMs: number, isRepeated: boolean) {
  const timer = { at: 0, order: 0, everyMs: isRepeated ? delayMs : undefined, call };
  set(timer, delayMs);
  return Object.assign(timer, { ref: () => timer, unref: () => timer, hasRef: () => true });
}

type Callback = (...args: unknown[]) => void;

export function stopTime(): void {
  now = START_MS;
  const clear = (timer?: Timer): void => void (timer && timers.delete(timer));
  const setter = (isRepeated: boolean) => {
    return (call: Callback, delayMs = 0, ...args: unknown[]) =>
      setTimer(() => call(...args), delayMs, isRepeated);
  };
  vi.stubGlobal('setTimeout', setter(false));
  vi.stubGlobal('setInterval', setter(true));
  vi.stubGlobal('clearTimeout', clear);
  vi.stubGlobal('clearInterval', clear);
  vi.stubGlobal('Date', SimulatedDate);
}

class SimulatedDate extends Date {
  constructor(...given: [] | [number | string]) {
    super(given[0] ?? now);
  }

  static override now(): number {
    return now;
  }
}

/** Also ends every timer that processes of the simulation have left behind. */
export function startTime(): void {
  timers.clear();
  soonest = Number.POSITIVE_INFINITY;
  vi.unstubAllGlobals();
}

export async function pass(milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= TURN_MS) {
    advance(Math.min(left, TURN_MS));
    await turn();
  }
}

function advance(milliseconds: number): void {
  const until = now + milliseconds;
  for (let due = nextDue(until); due !== undefined; due = nextDue(until)) {
    now = due.at;
    if (due.everyMs === undefined) timers.delete(due);
    else set(due, due.everyMs);
    due.call();
  }
  now = until;
}

function nextDue(until: number): Timer | undefined {
  if (soonest > until) return undefined;
  let first: Timer | undefined;
  for (const timer of timers) {
    if (first === undefined || timer.at < first.at) first = timer;
    else if (timer.at === first.at && timer.order < first.order) first = timer;
  }
  soonest = first?.at ?? Number.POSITIVE_INFINITY;
  return soonest > until ? undefined : first;
}

/** One turn of the event loop, which is not part of the time that stands still. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
