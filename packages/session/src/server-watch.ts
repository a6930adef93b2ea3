/**
 * Do Kafka and Redis answer? Asked every 1.5 s; Redis with a write, because with a full disk it
 * refuses only writes. A service is not ready while one of them has been away for more than 5 s.
 */
import { type Log, metrics, verdict } from '@freshet/telemetry';

interface ServerWatchOptions {
  readonly ask: Readonly<Record<Server, () => Promise<unknown>>>;
  readonly log: Log;
  /** Gets an error that a retry cannot mend: the process must end. */
  readonly fail: (error: unknown) => void;
  readonly now?: () => number;
}

const names = { kafka: 'Kafka', redis: 'Redis' } as const;
type Server = keyof typeof names;
const servers = Object.keys(names) as Server[];

const ASK_MS = 1_500;
/** During a shorter absence requests wait or are retried, and the service stays ready. */
const AWAY_MS = 5_000;

export class ServerWatch {
  readonly #now: () => number;
  readonly #lastAnswer: Record<Server, number>;
  readonly #asking = new Set<Server>();
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly options: ServerWatchOptions) {
    this.#now = options.now ?? Date.now;
    this.#lastAnswer = { kafka: this.#now(), redis: this.#now() };
    this.#timer = setInterval(() => this.look(), ASK_MS).unref();
  }

  /** Which server is away, for the answer of /readyz; null if none is. */
  waitingFor(): string | null {
    for (const server of servers) {
      const awayMs = this.#awayMs(server);
      if (awayMs > AWAY_MS) {
        return `${names[server]}, which has not answered for ${Math.round(awayMs / 1_000)} s`;
      }
    }
    return null;
  }

  /** Asks each server, unless the last request to it is still in flight. */
  look(): void {
    for (const server of servers) {
      const awayMs = this.#awayMs(server);
      metrics.serverAway.set({ server }, awayMs > 2 * ASK_MS ? awayMs / 1_000 : 0);
      if (this.#asking.has(server)) continue;
      this.#asking.add(server);
      this.options.ask[server]()
        .then(() => {
          this.#lastAnswer[server] = this.#now();
        })
        .catch((error: unknown) => this.#failed(server, error))
        .finally(() => this.#asking.delete(server));
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
  }

  #awayMs(server: Server): number {
    return this.#now() - this.#lastAnswer[server];
  }

  #failed(server: Server, error: unknown): void {
    const { log, fail } = this.options;
    if (verdict(error) === 'stop') return fail(error);
    log.debug({ err: error }, `${names[server]} did not answer`);
  }
}
