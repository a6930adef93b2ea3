/**
 * When may the port of a scorer that is being stopped be closed? Connections that wait to be
 * accepted at that moment are reset, so first whoever sends requests must have noticed: /readyz
 * answers 503, and each answer ends its connection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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
  #isOn = false;
  #lastAt = Number.NEGATIVE_INFINITY;
  /** The last answer of each connection, which ends it. */
  readonly #endings = new WeakMap<Socket, ServerResponse>();

  constructor(private readonly limits: DrainLimits = AT_ONCE) {}

  get isOn(): boolean {
    return this.#isOn;
  }

  /** A request has come. */
  requested({ socket }: IncomingMessage, response: ServerResponse): void {
    this.#lastAt = performance.now();
    if (!this.#isOn) return;
    // Of requests that a client sends without waiting, only the last answer ends the connection.
    const before = this.#endings.get(socket);
    if (before?.headersSent === false) before.removeHeader('connection');
    this.#endings.set(socket, response);
  }

  /** Resolves when the port may be closed. */
  async run(): Promise<void> {
    this.#isOn = true;
    const { quietMs, longestMs } = this.limits;
    const latest = performance.now() + longestMs;
    while (performance.now() < Math.min(latest, this.#lastAt + quietMs)) await pause(LOOK_MS);
  }
}
