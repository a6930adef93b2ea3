/**
 * Time that passes only when the simulation says so: minutes of waiting take milliseconds, and nothing
 * depends on how fast the machine is.
 */
import { vi } from 'vitest';

/** Whatever takes a turn of the event loop takes so long. */
const TURN_MS = 20;

export function stopTime(): void {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
    now: 1_700_000_000_000,
  });
}

/** Also ends every timer that processes of the simulation have left behind. */
export function startTime(): void {
  vi.clearAllTimers();
  vi.useRealTimers();
}

export async function pass(milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= TURN_MS) {
    // Not the asynchronous way to advance: that waits a real millisecond for every timer.
    vi.advanceTimersByTime(Math.min(left, TURN_MS));
    await turn();
  }
}

/** One turn of the event loop, which is not part of the time that stands still. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
