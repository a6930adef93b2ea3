/** The HTTP API: who may ask, when, within which limits, and how errors are answered. */
import assert from 'node:assert';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { asksForLoopback } from '@freshet/config';
import { TRACEPARENT, traceField, traceHeader } from '@freshet/events';
import { type Clock, type RequestGuard, requestGuard, securityHeaders } from '@freshet/service';
import { plainError, verdict } from '@freshet/telemetry';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { HttpLimits } from './answer-schemas.ts';
import { type DrainLimits, HttpDrain } from './http-drain.ts';
import { readJsonBodies } from './json-body.ts';
import { OPENAPI_PATH, serveOpenapi } from './openapi.ts';
import { PROBLEM_TYPE, problem, problemText, refusal } from './problem.ts';
import { QuickAnswers } from './quick-answers.ts';
import { recommendationRoutes } from './recommendation-routes.ts';
import type { Recommender } from './recommender.ts';
import { idMaker, saneId } from './request-id.ts';
import { measureRequests, type RequestMetrics } from './request-metrics.ts';

export type Routes = (api: FastifyInstance, limits: HttpLimits) => void;

interface HttpApiOptions {
  readonly recommender: Pick<Recommender, 'recommendInJson' | 'answerKept'>;
  /** Empty: none is asked for, and only requests whose Host is a name of loopback are answered. */
  readonly token: string;
  /** What readiness waits for, or null when ready. */
  readonly waitingFor: () => string | null;
  /** Has a line for each request that failed, and for no other. */
  readonly log: Record<'warn' | 'error', (told: object, message: string) => void>;
  readonly limits: HttpLimits;
  /** All routes but `GET /v1/recommendations/{user}`, which is always there. */
  readonly routes?: readonly Routes[];
  /** How long `close` goes on answering; without it the port is closed at once. */
  readonly drain?: DrainLimits;
  /** Times the delays of an address that guesses tokens; tests pass a clock of their own. */
  readonly clock?: Clock;
}

const REQUEST_ID = 'x-request-id';
const NOTHING = {};
/** No answer is a page: a browser that is led to one must not run or show anything in it. */
const HEADERS = securityHeaders("default-src 'none'; frame-ancestors 'none'");
const RAW_HEADERS = Object.entries(HEADERS)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');
const MISDIRECTED =
  'without HTTP_TOKEN the API answers only to names of this machine: ask for localhost, ' +
  '127.0.0.1 or [::1], or set HTTP_TOKEN to reach it by other names';
const TOO_LONG =
  'the URL and the headers are longer than 16 KB: name fewer ids, or ask by POST, with the ids ' +
  'in the body';
const PATH_BYTES_LIMIT = 16 << 10; // Node's own limit on the request line and the headers

export function httpApi(options: HttpApiOptions): FastifyInstance {
  const { recommender, token, limits, routes = [] } = options;
  const newId = idMaker();
  const api = fastify({
    genReqId: ({ headers }) => saneId(headers[REQUEST_ID]) ?? newId(),
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestMs,
    // A request that comes while the scorer ends is answered; fastify would refuse it with a 503
    // that does not say when to try again.
    return503OnClosing: false,
    http: {
      headersTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.requestMs,
      // Without a token the guard checks Host and says what is wrong with it. Node would not say.
      requireHostHeader: token !== '',
    },
    // Longer than any id: beyond this limit the router answers 404, but a long id should be 400.
    routerOptions: { maxParamLength: PATH_BYTES_LIMIT },
    frameworkErrors: (error, _, reply) =>
      void problem(reply.headers(HEADERS), error.statusCode ?? 400, error.message),
    clientErrorHandler: (error, socket) => {
      if (!socket.writable) return;
      const isLong = error.code === 'HPE_HEADER_OVERFLOW';
      const status = isLong ? 431 : 400;
      const body = problemText(status, isLong ? TOO_LONG : 'the request cannot be read');
      const head = `HTTP/1.1 ${status} Refused\r\n${RAW_HEADERS}Content-Type: ${PROBLEM_TYPE}\r\n`;
      socket.end(`${head}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
    },
    ajv: { customOptions: { removeAdditional: false, coerceTypes: 'array', useDefaults: true } },
  });
  readJsonBodies(api);
  // Scores are long numbers, which JSON.stringify writes faster than code made from the schemas.
  api.setSerializerCompiler(() => JSON.stringify);
  const measures = measureRequests(api);
  api.addHook('onSend', (request, reply, _, next) => {
    reply.headers(HEADERS).headers(returned(request.headers));
    next();
  });
  const { clock } = options;
  const answersTo = asksForLoopback;
  const guard = requestGuard({ token, answersTo, misdirected: MISDIRECTED, clock });
  refuse(api, guard, options);
  api.setNotFoundHandler((_, reply) => problem(reply, 404, 'no such resource'));
  api.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const refused = refusal(error);
    if (refused) return problem(reply, refused.status, refused.detail, refused.more);
    return failed(error, request, reply, options.log);
  });
  serveOpenapi(api);
  recommendationRoutes(recommender)(api, limits);
  for (const add of routes) add(api, limits);
  answerQuickly(api, guard, measures, options);
  return api;
}

/** What an answer repeats of its request: the trace, and the id if the client chose it. */
function returned(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const id = saneId(headers[REQUEST_ID]);
  const trace = headers[TRACEPARENT];
  if (id === undefined && trace === undefined) return NOTHING;
  return { ...(id === undefined ? {} : { [REQUEST_ID]: id }), ...traceHeader(trace) };
}

/** The answer to an error of ours. The log has the error under the request's id. */
function failed(
  error: Error & { statusCode?: number },
  { id: requestId, method, routeOptions, headers }: FastifyRequest,
  reply: FastifyReply,
  log: HttpApiOptions['log'],
): FastifyReply {
  // The log has the route and not the URL, which names users.
  const names = { requestId, ...traceField(headers[TRACEPARENT]) };
  const told = { ...names, route: `${method} ${routeOptions.url}`, error: plainError(error) };
  reply.header(REQUEST_ID, requestId);
  if (verdict(error) === 'retry') {
    log.warn(
      told,
      'request answered with 503: Kafka or Redis does not answer; the client may try again',
    );
    reply.header('retry-after', '1');
    return problem(reply, 503, 'a server that Freshet needs is away: try again');
  }
  log.error(told, 'request failed');
  return problem(reply, error.statusCode ?? 500, 'the request could not be answered');
}

/**
 * Puts the quick answers in front of fastify, until it closes. From then on fastify answers alone,
 * and each answer ends its connection; the port is closed when the drain is over.
 */
function answerQuickly(
  api: FastifyInstance,
  guard: RequestGuard,
  measures: RequestMetrics,
  { recommender, waitingFor, limits, drain: drainLimits }: HttpApiOptions,
): void {
  const drain = new HttpDrain(drainLimits);
  api.addHook('preClose', () => drain.run());
  const [fastify] = api.server.listeners('request') as RequestListener[];
  assert(fastify !== undefined, 'fastify listens to requests');
  const quick = new QuickAnswers({
    recommender,
    limits,
    mayAnswer: (request) => !drain.isOn && waitingFor() === null && guard.admits(request),
    headers: HEADERS,
    returned,
    measures,
    fastify,
  });
  api.server.removeListener('request', fastify);
  api.server.on('request', (request, response) => {
    drain.requested(request, response);
    quick.answer(request, response);
  });
}

/** Refuses who may not ask, and then everybody while the scorer is not ready. */
function refuse(api: FastifyInstance, guard: RequestGuard, { waitingFor }: HttpApiOptions): void {
  api.addHook('onRequest', (request, reply, next) => {
    guard.check(request.raw, (refusal) => {
      if (refusal !== undefined) {
        return void problem(reply.headers(refusal.headers), refusal.status, refusal.detail);
      }
      const reason = waitingFor();
      if (reason === null || request.routeOptions.url === OPENAPI_PATH) return next();
      reply.header('retry-after', '1');
      return void problem(reply, 503, `not ready: waiting for ${reason}`);
    });
  });
}
