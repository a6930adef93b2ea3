/**
 * Sends an answer of JSON past fastify, to save CPU time: no hooks run, and head and body leave in
 * one system call. Node's `end(body)` would add an empty chunk, and so need a slower call for
 * several chunks.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestMetrics } from './request-metrics.ts';

/** As fastify has it of answers that it writes itself. */
const JSON_TYPE = 'application/json; charset=utf-8';

/** The headers of a request that its answer has too. */
type Returned = (request: FastifyRequest) => Readonly<Record<string, string>>;

export class PlainAnswers {
  readonly #headers: readonly string[];
  readonly #returned: Returned;
  readonly #measures: RequestMetrics;

  constructor(
    headers: Readonly<Record<string, string>>,
    returned: Returned,
    measures: RequestMetrics,
  ) {
    this.#headers = ['content-type', JSON_TYPE, ...Object.entries(headers).flat()];
    this.#returned = returned;
    this.#measures = measures;
  }

  send(reply: FastifyReply, body: string): void {
    const { raw, request } = reply;
    const bytes = Buffer.byteLength(body);
    this.#measures.observe('recommend', 'ok', request.arrivedAt, bytes);
    const headers = [...this.#headers, 'content-length', String(bytes)];
    const returned = this.#returned(request);
    for (const name in returned) headers.push(name, returned[name] as string);
    reply.hijack();
    raw.writeHead(200, headers);
    if (request.method !== 'HEAD') {
      const { socket } = raw;
      // While the socket is corked, Node does not cork it until the next tick.
      socket?.cork();
      raw.write(body, bytes === body.length ? 'latin1' : 'utf8');
      socket?.uncork();
    }
    raw.end();
  }
}
