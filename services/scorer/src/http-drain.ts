/**
 * When may the port of a scorer that is being stopped be closed? Connections that wait to be
 * accepted at that moment are reset, so first whoever sends requests must have noticed: /readyz
 * answers 503, and each answer ends its connection.
 */
import { setTimeout as pause } from 'node:timers/promises';

export interface DrainLimits {
  /** After this time without a request, the clients are taken to have left. */
  readonly quietMs: number;
  /** The port is closed after this time, even if clients go on asking. */
  readonly longestMs: number;
}

const AT_ONCE: DrainLimits = { quietMs: 0, longestMs: 0 };
const LOOK_MS = 20;

export class HttpDrain {
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly limits: DrainLimits = AT_ONCE) {}

  /** A request has come. */
  requested(): void {
    this.#lastAt = performance.now();
  }

  async over(): Promise<void> {
    const { quietMs, longestMs } = this.limits;
    const latest = performance.now() + longestMs;
    while (performance.now() < Math.min(latest, this.#lastAt + quietMs)) await pause(LOOK_MS);
  }
}
