/**
 * Answers most requests for a list before they reach fastify, which would cost as much CPU time as
 * the search: `GET /v1/recommendations/USER`, with no parameter but `n`, for a user in the cache.
 * All others, and those that are refused or fail, are left to fastify, which answers alike.
 */
import type {
  IncomingHttpHeaders,
  IncomingMessage,
  RequestListener,
  ServerResponse,
} from 'node:http';
import { DEFAULT_COUNT, type HttpLimits } from './answer-schemas.ts';
import type { Recommender } from './recommender.ts';
import type { RequestMetrics } from './request-metrics.ts';

/** As fastify has it of answers that it writes itself. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** Ids without characters that a path escapes. */
const PLAIN = /^\/v1\/recommendations\/([\w.~-]{1,64})(?:\?n=(\d{1,4}))?$/;

interface QuickAnswersOptions {
  readonly recommender: Pick<Recommender, 'answerKept'>;
  readonly limits: Pick<HttpLimits, 'items'>;
  /** false: fastify refuses the request, delays it or ends its connection. */
  readonly mayAnswer: (request: IncomingMessage) => boolean;
  /** Of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** The headers of a request that its answer has too. */
  readonly returned: (headers: IncomingHttpHeaders) => Readonly<Record<string, string>>;
  readonly measures: RequestMetrics;
  readonly fastify: RequestListener;
}

export class QuickAnswers {
  readonly #options: QuickAnswersOptions;
  readonly #headers: readonly string[];

  constructor(options: QuickAnswersOptions) {
    this.#options = options;
    this.#headers = ['content-type', JSON_TYPE, ...Object.entries(options.headers).flat()];
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const { fastify } = this.#options;
    const leave = () => fastify(request, response);
    if (!this.#answers(request, response, leave)) leave();
  }

  /** false: this is for fastify. Later it may still be left to it, after an error. */
  #answers(request: IncomingMessage, response: ServerResponse, leave: () => void): boolean {
    const { recommender, limits, mayAnswer } = this.#options;
    const [, user, digits] = (request.method === 'GET' && PLAIN.exec(request.url ?? '')) || [];
    const count = digits === undefined ? DEFAULT_COUNT : Number(digits);
    if (user === undefined || count < 1 || count > limits.items) return false;
    const arrivedAt = performance.now();
    const send = (json: string) => this.#send(request, response, json, arrivedAt);
    return mayAnswer(request) && recommender.answerKept(user, count, send, leave);
  }

  /**
   * Head and body leave in one system call. Node's `end(body)` would add an empty chunk, and so
   * need a slower call for several chunks.
   */
  #send(request: IncomingMessage, response: ServerResponse, body: string, since: number): void {
    const bytes = Buffer.byteLength(body);
    const headers = [...this.#headers, 'content-length', String(bytes)];
    const returned = this.#options.returned(request.headers);
    for (const name in returned) headers.push(name, returned[name] as string);
    response.writeHead(200, headers);
    const { socket } = response;
    // While the socket is corked, Node does not cork it until the next tick.
    socket?.cork();
    response.write(body, bytes === body.length ? 'latin1' : 'utf8');
    socket?.uncork();
    response.end();
    this.#options.measures.observe('recommend', 'ok', since, bytes);
  }
}
