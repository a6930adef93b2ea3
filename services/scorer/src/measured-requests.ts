/**
 * Which requests are measured as what? Each when its answer is handed over: to wait until the socket has
 * taken it costs more than to find what is in it.
 */
import type { FastifyInstance } from 'fastify';
import { type RequestKind, RequestMetrics } from './request-metrics.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** As performance.now() has it. */
    arrivedAt: number;
  }
}

export function measureRequests(api: FastifyInstance): void {
  const measures = new RequestMetrics('http');
  api.decorateRequest('arrivedAt', 0);
  api.addHook('onRequest', (request, _, next) => {
    request.arrivedAt = performance.now();
    next();
  });
  api.addHook('onSend', (request, { statusCode }, body, next) => {
    const kind = request.is404 ? 'other' : kindOf(request.method, request.raw.url ?? '');
    const outcome = statusCode < 400 ? 'ok' : statusCode < 500 ? 'refused' : 'failed';
    const bytes = typeof body === 'string' ? Buffer.byteLength(body) : 0;
    measures.observe(kind, outcome, request.arrivedAt, bytes);
    next();
  });
}

/** By the beginning of a path that leads somewhere: what follows are ids. */
export function kindOf(method: string, path: string): RequestKind {
  if (path.startsWith('/v1/recommendations')) return 'recommend';
  if (method === 'DELETE' || path.startsWith('/v1/ratings')) return 'rate';
  return path.startsWith('/v1/') ? 'insight' : 'other';
}
