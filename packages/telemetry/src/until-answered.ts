/**
 * Keeps trying while a server is away, ever more slowly: nothing is thrown at whoever waits, and nothing
 * is lost. Whatever trying again cannot mend is thrown at once.
 */
import type { Log } from './log.ts';
import { verdict } from './verdict.ts';

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1_000;

interface Attempts {
  readonly log: Pick<Log, 'warn'>;
  /** What is tried, for the log. */
  readonly what: string;
  /** Called between attempts; when it throws, so does the wait. */
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
