/** The recommendation API over HTTP. Errors are problem details as RFC 9457 has them. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { idBytesLimit, recommendationCountLimit } from '@freshet/events';
import { metrics } from '@freshet/telemetry';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { Recommender } from './recommender.ts';

export interface HttpApiOptions {
  readonly recommender: Pick<Recommender, 'recommend'>;
  /** Empty: no token is asked for. */
  readonly token: string;
  /** What readiness waits for, or null when ready. */
  readonly waitingFor: () => string | null;
}

const BODY_BYTES_LIMIT = 64 << 10;
const PATH_BYTES_LIMIT = 16 << 10; // Node's own limit on the head of a request
const REQUEST_TIMEOUT_MS = 30_000;

interface RecommendationQuery {
  Params: { user: string };
  Querystring: { n: number };
}

const recommendationSchema = {
  params: {
    type: 'object',
    properties: { user: { type: 'string', minLength: 1 } },
  },
  querystring: {
    type: 'object',
    properties: {
      n: { type: 'integer', minimum: 1, maximum: recommendationCountLimit, default: 10 },
    },
  },
} as const;

export function httpApi({ recommender, token, waitingFor }: HttpApiOptions): FastifyInstance {
  const api = fastify({
    bodyLimit: BODY_BYTES_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Not the id's own limit: the router answers 404 beyond its limit, and the id is what is wrong.
    routerOptions: { maxParamLength: PATH_BYTES_LIMIT },
    frameworkErrors: (error, _, reply) =>
      void problem(reply, error.statusCode ?? 400, error.message),
  });
  const expected = digest(token);

  api.addHook('onRequest', async (request, reply) => {
    if (token !== '' && !timingSafeEqual(digest(bearer(request.headers.authorization)), expected)) {
      reply.header('www-authenticate', 'Bearer');
      return problem(reply, 401, 'a valid bearer token is needed');
    }
    const reason = waitingFor();
    if (reason !== null) {
      reply.header('retry-after', '1');
      return problem(reply, 503, `not ready: waiting for ${reason}`);
    }
    return undefined;
  });
  api.addHook('onResponse', async (_, reply) => {
    const outcome = reply.statusCode < 400 ? 'ok' : reply.statusCode < 500 ? 'refused' : 'failed';
    metrics.requestDuration.observe({ transport: 'http', outcome }, reply.elapsedTime / 1000);
  });
  api.setNotFoundHandler((_, reply) => problem(reply, 404, 'no such resource'));
  api.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status < 500) return problem(reply, status, error.message);
    request.log.error({ err: error }, 'request failed');
    return problem(reply, status, 'the request could not be answered');
  });

  const route = { schema: recommendationSchema };
  api.get<RecommendationQuery>('/v1/recommendations/:user', route, async (request, reply) => {
    const { user } = request.params;
    if (Buffer.byteLength(user) > idBytesLimit) {
      return problem(reply, 400, `a user id has at most ${idBytesLimit} bytes`);
    }
    return recommender.recommend(user, request.query.n);
  });
  return api;
}

function problem(reply: FastifyReply, status: number, detail: string): FastifyReply {
  const body = { type: 'about:blank', title: titles[status] ?? 'Error', status, detail };
  return reply.code(status).type('application/problem+json').send(JSON.stringify(body));
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  413: 'Content Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

function bearer(header: string | undefined): string {
  return header?.match(/^Bearer (.+)$/i)?.[1] ?? '';
}

/** Compared as digests, in constant time: neither length nor content of the token leaks. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
