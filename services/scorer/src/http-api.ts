/** The API over HTTP: who may ask, when, within which limits, and how errors are told. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { recommendationCountLimit } from '@freshet/events';
import { metrics } from '@freshet/telemetry';
import fastify, { type FastifyInstance } from 'fastify';
import type { HttpLimits } from './answer-schemas.ts';
import { OPENAPI_PATH, serveOpenapi } from './openapi.ts';
import { PROBLEM_TYPE, problem, problemText, refusal } from './problem.ts';
import { recommendationRoutes } from './recommendation-routes.ts';
import type { Recommender } from './recommender.ts';

export type Routes = (api: FastifyInstance, limits: HttpLimits) => void;

export interface HttpApiOptions {
  readonly recommender: Pick<Recommender, 'recommend'>;
  /** Empty: no token is asked for. */
  readonly token: string;
  /** What readiness waits for, or null when ready. */
  readonly waitingFor: () => string | null;
  readonly limits?: HttpLimits;
  /** Beside the recommendations of a user. */
  readonly routes?: readonly Routes[];
}

/** As the settings have them by default. */
const usual: HttpLimits = {
  bodyBytes: 256 << 10,
  requestMs: 10_000,
  items: recommendationCountLimit,
  offset: 10_000,
  ids: 1_000,
  users: 100,
};
const PATH_BYTES_LIMIT = 16 << 10; // Node's own limit on the head of a request

export function httpApi(options: HttpApiOptions): FastifyInstance {
  const { recommender, limits = usual, routes = [] } = options;
  const api = fastify({
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestMs,
    http: { headersTimeout: limits.requestMs, connectionsCheckingInterval: limits.requestMs },
    // Not the id's own limit: the router answers 404 beyond its limit, and the id is what is wrong.
    routerOptions: { maxParamLength: PATH_BYTES_LIMIT },
    frameworkErrors: (error, _, reply) =>
      void problem(reply, error.statusCode ?? 400, error.message),
    clientErrorHandler: (error, socket) => {
      if (!socket.writable) return;
      const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
      const body = problemText(status, 'the request cannot be read');
      const head = `HTTP/1.1 ${status} Refused\r\nContent-Type: ${PROBLEM_TYPE}\r\n`;
      socket.end(`${head}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
    },
    ajv: { customOptions: { removeAdditional: false, coerceTypes: 'array', useDefaults: true } },
  });
  api.removeContentTypeParser('text/plain');
  guard(api, options);
  api.setNotFoundHandler((_, reply) => problem(reply, 404, 'no such resource'));
  api.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const refused = refusal(error);
    if (refused) return problem(reply, refused.status, refused.detail, refused.more);
    request.log.error({ err: error }, 'request failed');
    return problem(reply, error.statusCode ?? 500, 'the request could not be answered');
  });
  serveOpenapi(api);
  recommendationRoutes(recommender)(api, limits);
  for (const add of routes) add(api, limits);
  return api;
}

function guard(api: FastifyInstance, { token, waitingFor }: HttpApiOptions): void {
  const expected = digest(token);
  api.addHook('onRequest', (request, reply, next) => {
    if (token !== '' && !timingSafeEqual(digest(bearer(request.headers.authorization)), expected)) {
      reply.header('www-authenticate', 'Bearer');
      return void problem(reply, 401, 'a valid bearer token is needed');
    }
    const reason = waitingFor();
    if (reason === null || request.routeOptions.url === OPENAPI_PATH) return next();
    reply.header('retry-after', '1');
    return void problem(reply, 503, `not ready: waiting for ${reason}`);
  });
  api.addHook('onResponse', (_, reply, next) => {
    const outcome = reply.statusCode < 400 ? 'ok' : reply.statusCode < 500 ? 'refused' : 'failed';
    metrics.requestDuration.observe(
      { transport: 'http', kind: 'recommend', outcome },
      reply.elapsedTime / 1000,
    );
    next();
  });
}

function bearer(header: string | undefined): string {
  return header?.match(/^Bearer (.+)$/i)?.[1] ?? '';
}

/** Compared as digests, in constant time: neither length nor content of the token leaks. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
