/** The console over HTTP: who may look, the page itself, the stream of frames, the scorer behind it. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Log } from '@freshet/telemetry';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Broadcast } from './broadcast.ts';
import type { History } from './live/frame.ts';
import type { PageFile } from './page-files.ts';
import { proxyScorer, type ScorerAddress } from './scorer-proxy.ts';

export interface ConsoleServerOptions {
  readonly files: ReadonlyMap<string, PageFile>;
  /** Asked of whoever looks; empty: none, and then only names of this machine are answered to. */
  readonly token: string;
  readonly scorer: ScorerAddress;
  readonly broadcast: Broadcast;
  readonly history: () => History;
  readonly log: Pick<Log, 'error'>;
}

const REQUEST_LIMIT_MS = 10_000;
const BODY_LIMIT_BYTES = 16 << 10; // a rating is a few hundred bytes
const FOREVER = 'public, max-age=31536000, immutable';

const headers = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

export function consoleServer(options: ConsoleServerOptions): FastifyInstance {
  const { files, scorer, broadcast, history, log } = options;
  const api = fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_LIMIT_MS,
    forceCloseConnections: true,
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
    if (broadcast.isFull) return reply.code(503).send({ detail: 'too many pages are open' });
    for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value);
    reply.hijack();
    broadcast.admit(reply.raw, history());
    return reply;
  });
  proxyScorer(api, scorer);
  return api;
}

function guard(api: FastifyInstance, { token, files }: ConsoleServerOptions): void {
  const expected = digest(token);
  api.addHook('onRequest', (request, reply, next) => {
    reply.headers(headers);
    const { authorization, host = '' } = request.headers;
    // Without a token only loopback is bound; a page elsewhere may still point a name of its own at it.
    if (token === '' && !isThisMachine(host)) {
      return void reply.code(403).send({ detail: 'the console answers to names of this machine' });
    }
    if (!isSameOrigin(request)) {
      return void reply.code(403).send({ detail: 'the console answers only to its own page' });
    }
    const isPage = files.has(request.url.split('?')[0] ?? '');
    const given = authorization?.match(/^Bearer (.+)$/i)?.[1] ?? '';
    if (!isPage && token !== '' && !timingSafeEqual(digest(given), expected)) {
      reply.header('www-authenticate', 'Bearer');
      return void reply.code(401).send({ detail: 'a valid token is needed' });
    }
    next();
  });
}

/** Browsers tell where a request comes from; other clients do not, and have no user to trick. */
function isSameOrigin({ headers: given }: FastifyRequest): boolean {
  const site = given['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  const { origin, host } = given;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
}

function isThisMachine(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(host);
}

/** Compared as digests, in constant time: neither length nor content of the token leaks. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
