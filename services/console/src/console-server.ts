/** The console's HTTP server: access, the files of the page, the stream of frames, the scorer. */
import { asksForLoopback, type ScorerAddress } from '@freshet/config';
import { type Clock, requestGuard, securityHeaders } from '@freshet/service';
import type { Log } from '@freshet/telemetry';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Broadcast } from './broadcast.ts';
import type { History } from './live/frame.ts';
import type { PageFile } from './page-files.ts';
import { proxyScorer } from './scorer-proxy.ts';

interface ConsoleServerOptions {
  readonly files: ReadonlyMap<string, PageFile>;
  /** Empty: none is asked for, and only requests whose Host is a name of loopback are answered. */
  readonly token: string;
  readonly scorer: ScorerAddress;
  readonly broadcast: Broadcast;
  readonly history: () => History;
  readonly log: Pick<Log, 'error'>;
  /** Times the delays of an address that guesses tokens; tests pass a clock of their own. */
  readonly clock?: Clock;
}

const REQUEST_LIMIT_MS = 10_000;
const BODY_LIMIT_BYTES = 16 << 10; // a rating is a few hundred bytes
const FOREVER = 'public, max-age=31536000, immutable';

const headers = securityHeaders(
  "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
    "object-src 'none'",
);
const MISDIRECTED =
  'without HTTP_TOKEN the console answers only to names of this machine: open it as localhost or 127.0.0.1, or set HTTP_TOKEN to reach it by other names';

export function consoleServer(options: ConsoleServerOptions): FastifyInstance {
  const { files, scorer, broadcast, history, log } = options;
  const api = fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_LIMIT_MS,
    forceCloseConnections: true,
    // Without a token the guard checks Host and says what is wrong with it. Node would not say.
    http: { requireHostHeader: options.token !== '' },
  });
  guard(api, options);
  api.setNotFoundHandler((_, reply) => reply.code(404).send({ detail: 'no such resource' }));
  api.setErrorHandler((error: Error & { statusCode?: number }, _, reply) => {
    const { statusCode = 500, message } = error;
    if (statusCode < 500) return reply.code(statusCode).send({ detail: message });
    log.error({ err: error }, 'request failed');
    return reply.code(statusCode).send({ detail: 'the request could not be answered' });
  });
  for (const [path, { bytes, type, immutable }] of files) {
    api.get(path, (_, reply) =>
      reply
        .type(type)
        .header('cache-control', immutable ? FOREVER : 'no-cache')
        .send(bytes),
    );
  }
  api.get('/events', (_, reply) => {
    if (broadcast.isFull)
      return reply.code(503).send({ detail: 'too many pages are open: close some of them' });
    for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value);
    reply.hijack();
    broadcast.admit(reply.raw, history());
    return reply;
  });
  proxyScorer(api, scorer);
  return api;
}

function guard(api: FastifyInstance, { token, files, clock }: ConsoleServerOptions): void {
  const answersTo = asksForLoopback;
  const { check } = requestGuard({ token, answersTo, misdirected: MISDIRECTED, clock });
  api.addHook('onRequest', (request, reply, next) => {
    reply.headers(headers);
    if (!isSameOrigin(request)) {
      return void reply.code(403).send({ detail: 'the console answers only to its own page' });
    }
    // The page holds no data, and it is what asks the user for the token.
    const { url } = request.routeOptions;
    if (token !== '' && url !== undefined && files.has(url)) return next();
    check(request.raw, (refusal) => {
      if (refusal === undefined) return next();
      const { status, detail } = refusal;
      return void reply.code(status).headers(refusal.headers).send({ detail });
    });
  });
}

/** Browsers say which page a request comes from. Other clients do not, and cannot be tricked. */
function isSameOrigin({ headers: given }: FastifyRequest): boolean {
  const site = given['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  const { origin, host } = given;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
}
