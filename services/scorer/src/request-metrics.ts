/** The duration of requests, by kind and outcome, and the size of their answers. */
import { metrics } from '@freshet/telemetry';
import type { FastifyInstance } from 'fastify';

type RequestKind = 'recommend' | 'insight' | 'rate' | 'other';
type Outcome = 'ok' | 'refused' | 'failed';
type Transport = 'http' | 'kafka';

type Observer = Readonly<Record<Outcome, { observe(seconds: number): void }>>;

export class RequestMetrics {
  /** Looked up once: finding a series by its labels costs as much as observing a value. */
  readonly #durations: Readonly<Record<RequestKind, Observer>>;
  readonly #bytes: { observe(bytes: number): void };

  constructor(transport: Transport) {
    const of = (kind: RequestKind): Observer => ({
      ok: metrics.requestDuration.labels({ transport, kind, outcome: 'ok' }),
      refused: metrics.requestDuration.labels({ transport, kind, outcome: 'refused' }),
      failed: metrics.requestDuration.labels({ transport, kind, outcome: 'failed' }),
    });
    this.#durations = {
      recommend: of('recommend'),
      insight: of('insight'),
      rate: of('rate'),
      other: of('other'),
    };
    this.#bytes = metrics.answerBytes.labels({ transport });
  }

  /** `since` is a time of performance.now(); `bytes` the size of an answer that was sent. */
  observe(kind: RequestKind, outcome: Outcome, since: number, bytes?: number): void {
    this.#durations[kind][outcome].observe((performance.now() - since) / 1_000);
    if (bytes !== undefined) this.#bytes.observe(bytes);
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** A time of performance.now(). */
    arrivedAt: number;
  }
}

/** Measures every answer of fastify. Whoever sends one past it (quick-answers.ts) measures it. */
export function measureRequests(api: FastifyInstance): RequestMetrics {
  const measures = new RequestMetrics('http');
  api.decorateRequest('arrivedAt', 0);
  api.addHook('onRequest', (request, _, next) => {
    request.arrivedAt = performance.now();
    next();
  });
  api.addHook('onSend', (request, { statusCode }, body, next) => {
    const kind = request.is404 ? 'other' : kindOf(request.method, request.url);
    const outcome = statusCode < 400 ? 'ok' : statusCode < 500 ? 'refused' : 'failed';
    const bytes = typeof body === 'string' ? Buffer.byteLength(body) : 0;
    measures.observe(kind, outcome, request.arrivedAt, bytes);
    next();
  });
  return measures;
}

/** By the beginning of the path: the rest has ids. */
export function kindOf(method: string, path: string): RequestKind {
  if (path.startsWith('/v1/recommendations')) return 'recommend';
  if (method === 'DELETE' || path.startsWith('/v1/ratings')) return 'rate';
  return path.startsWith('/v1/') ? 'insight' : 'other';
}
