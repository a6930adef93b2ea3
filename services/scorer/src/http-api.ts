/** The API over HTTP: who may ask, when, within which limits, and how errors are told. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { recommendationCountLimit } from '@freshet/events';
import fastify, { type FastifyInstance } from 'fastify';
import type { HttpLimits } from './answer-schemas.ts';
import { measureRequests } from './measured-requests.ts';
import { OPENAPI_PATH, serveOpenapi } from './openapi.ts';
import { plainError } from './plain-error.ts';
import { PROBLEM_TYPE, problem, problemText, refusal } from './problem.ts';
import { recommendationRoutes } from './recommendation-routes.ts';
import type { Recommender } from './recommender.ts';
import { idMaker, saneId } from './request-id.ts';

export type Routes = (api: FastifyInstance, limits: HttpLimits) => void;

export interface HttpApiOptions {
  readonly recommender: Pick<Recommender, 'recommend'>;
  /** Empty: no token is asked for. */
  readonly token: string;
  /** What readiness waits for, or null when ready. */
  readonly waitingFor: () => string | null;
  /** Told of requests that failed; of no other. */
  readonly log: { error(told: object, message: string): void };
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
const REQUEST_ID = 'x-request-id';
const PATH_BYTES_LIMIT = 16 << 10; // Node's own limit on the head of a request

export function httpApi(options: HttpApiOptions): FastifyInstance {
  const { recommender, log, limits = usual, routes = [] } = options;
  const newId = idMaker();
  const api = fastify({
    genReqId: ({ headers }) => saneId(headers[REQUEST_ID]) ?? newId(),
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
  // Faster here than code made from the schemas, which are for the reader: scores are long numbers.
  api.setSerializerCompiler(() => JSON.stringify);
  measureRequests(api);
  guard(api, options);
  api.setNotFoundHandler((_, reply) => problem(reply, 404, 'no such resource'));
  api.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const refused = refusal(error);
    if (refused) return problem(reply, refused.status, refused.detail, refused.more);
    const { id: requestId, method, routeOptions } = request;
    // The route, not the URL: that names users.
    const route = `${method} ${routeOptions.url}`;
    log.error({ requestId, route, error: plainError(error) }, 'request failed');
    reply.header(REQUEST_ID, requestId);
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
    if (request.headers[REQUEST_ID] === request.id) reply.header(REQUEST_ID, request.id);
    if (token !== '' && !timingSafeEqual(digest(bearer(request.headers.authorization)), expected)) {
      reply.header('www-authenticate', 'Bearer');
      return void problem(reply, 401, 'a valid bearer token is needed');
    }
    const reason = waitingFor();
    if (reason === null || request.routeOptions.url === OPENAPI_PATH) return next();
    reply.header('retry-after', '1');
    return void problem(reply, 503, `not ready: waiting for ${reason}`);
  });
}

function bearer(header: string | undefined): string {
  return header?.match(/^Bearer (.+)$/i)?.[1] ?? '';
}

/** Compared as digests, in constant time: neither length nor content of the token leaks. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
