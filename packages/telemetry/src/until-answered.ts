/** Retries while a server is away, with backoff up to a second. Other errors are thrown at once. */
import type { Log } from './log.ts';
import { verdict } from './verdict.ts';

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1_000;

interface Attempts {
  readonly log: Pick<Log, 'warn'>;
  readonly what: string;
  /** Called between attempts; if it throws, the retries end with that error. */
  readonly between?: () => Promise<void>;
}

export async function untilAnswered<T>(
  attempt: () => Promise<T>,
  { log, what, between }: Attempts,
): Promise<T> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (verdict(error) !== 'retry') throw error;
      log.warn({ err: error }, `${what}: a server is away, trying again`);
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
    await between?.();
  }
}
