/**
 * The life of a service process: open everything, run until a signal or a fatal error, close in
 * reverse order. An unexpected error ends the process: a restart loses nothing.
 */
import { exposeMetrics, type Log, openLog, type Service } from '@freshet/telemetry';
import { ClosingStack } from './closing-stack.ts';

/** The longest that closing may take before the process exits anyway. */
const CLOSE_LIMIT_MS = 10_000;

export interface ServiceContext {
  readonly log: Log;
  readonly stack: ClosingStack;
  /** Ends the process with an error; the first call counts. */
  readonly fail: (error: unknown) => void;
  /** Aborted when the process begins to end. */
  readonly ending: AbortSignal;
}

export async function runService(
  name: Service,
  logLevel: string,
  open: (context: ServiceContext) => Promise<void>,
): Promise<void> {
  const log = openLog(name, logLevel);
  const stack = new ClosingStack();
  exposeMetrics(name);
  const ending = new AbortController();

  const end = async (code: number): Promise<void> => {
    if (ending.signal.aborted) return;
    ending.abort();
    setTimeout(() => process.exit(code || 1), CLOSE_LIMIT_MS).unref();
    await stack.close().catch((error: unknown) => log.error({ err: error }, 'unclean shutdown'));
    log.info({ code }, 'stopped');
    process.exit(code);
  };
  const fail = (error: unknown): void => {
    if (!ending.signal.aborted) {
      const reason = error instanceof Error ? error.message : String(error);
      log.fatal({ err: error }, reason);
      // The same as one plain line, for a person who started the service by hand.
      process.stderr.write(`freshet: ${name}: ${reason.replaceAll(/\s*\n\s*/g, ' ')}\n`);
    }
    void end(1);
  };

  process.on('SIGTERM', () => void end(0));
  process.on('SIGINT', () => void end(0));
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  try {
    await open({ log, stack, fail, ending: ending.signal });
  } catch (error) {
    fail(error);
  }
}
