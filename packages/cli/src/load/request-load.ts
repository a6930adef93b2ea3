/**
 * Asks at scheduled times, from which latency counts, whether the last request is answered or not.
 */
import http from 'node:http';
import https from 'node:https';
import type { ScorerAddress } from '@freshet/config';
import type { Crowd } from './crowd.ts';
import type { LoadFigures } from './load-figures.ts';
import { type Arrivals, openLoop, type Schedule } from './open-loop.ts';

interface RequestLoadOptions {
  readonly arrivals: Arrivals;
  readonly crowd: Crowd;
  readonly scorer: ScorerAddress;
  readonly figures: LoadFigures;
  /** Called with the first error of each kind. */
  readonly onError: (message: string) => void;
}

const limits = {
  /** As many as a few hundred users of a site make at once. */
  connections: 256,
  unanswered: 20_000,
  answerMs: 10_000,
  /** Some answers take only 1 ms, so a request must not be sent later than that. */
  tickMs: 1,
} as const;

export class RequestLoad {
  readonly #agent: http.Agent;
  readonly #get: typeof http.get;
  #unanswered = 0;

  constructor(private readonly options: RequestLoadOptions) {
    const { get, Agent } = options.scorer.url.startsWith('https:') ? https : http;
    this.#get = get;
    this.#agent = new Agent({ keepAlive: true, maxSockets: limits.connections });
  }

  get waiting(): number {
    return this.#unanswered;
  }

  /** Asks by the schedule. Returns how many requests could not be made. */
  send(schedule: Schedule): Promise<number> {
    return openLoop({
      ...schedule,
      arrivals: this.options.arrivals,
      tickMs: limits.tickMs,
      room: () => limits.unanswered - this.#unanswered,
      send: (dueAt) => {
        for (const at of dueAt) this.#ask(at);
      },
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #ask(dueAt: number): void {
    const { crowd, figures, onError } = this.options;
    this.#unanswered++;
    figures.sent++;
    this.#answer(`/v1/recommendations/${crowd.user()}?n=10`)
      .then(() => figures.done(performance.now() - dueAt))
      .catch((error: Error) => {
        // No latency is recorded: a scorer that is down refuses at once, which would look fast.
        figures.errors++;
        onError(`a request failed: ${error.message}`);
      })
      .finally(() => this.#unanswered--);
  }

  /** Does without fetch, which would take several times the processor time of a request. */
  #answer(path: string): Promise<void> {
    const { url, token } = this.options.scorer;
    const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
    return new Promise((resolve, reject) => {
      const request = this.#get(url + path, { agent: this.#agent, headers });
      request.setTimeout(limits.answerMs, () => request.destroy(new Error('no answer in 10 s')));
      request.on('error', reject);
      request.on('response', (response) => {
        const { statusCode } = response;
        response.on('end', () => {
          if (statusCode === 200) resolve();
          else reject(new Error(`status ${statusCode}`));
        });
        response.on('error', reject).resume();
      });
    });
  }
}
