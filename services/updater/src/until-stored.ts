/**
 * Keeps trying while Redis is away: nothing is thrown at the consumer, nothing is parked, and the
 * group is told that this process lives. A heartbeat fails when the partition is gone: then so does
 * the wait.
 */
import type { Log } from '@freshet/telemetry';

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1_000;

export async function untilStored<T>(
  attempt: () => Promise<T>,
  heartbeat: () => Promise<void>,
  log: Log,
): Promise<T> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof TypeError || error instanceof RangeError) throw error;
      log.warn({ err: error }, 'the store did not answer: trying again');
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
    await heartbeat();
  }
}
