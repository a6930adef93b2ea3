/**
 * Are the client's types those of the HTTP API, and does it retry what may be retried and nothing
 * else?
 */
import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FreshetClient, FreshetError } from '@freshet/client';
import { readSettings } from '@freshet/config';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { limitsOf } from '../services/scorer/src/answer-schemas.ts';
import { httpApi } from '../services/scorer/src/http-api.ts';
import { insightRoutes } from '../services/scorer/src/insight-routes.ts';
import { ratingRoutes } from '../services/scorer/src/rating-routes.ts';
import { batchRoutes, guestRoutes } from '../services/scorer/src/recommendation-routes.ts';
import { type OpenapiDocument, operationsSource } from './client/operations-source.ts';

/** The routes are asked for their schemas alone. */
async function openapiDocument(): Promise<OpenapiDocument> {
  const nobody = new Proxy({}, { get: () => undefined }) as never;
  const guests = { recommender: nobody, guests: nobody, catalogue: nobody, ratingMax: 5 };
  const api = httpApi({
    recommender: nobody,
    token: '',
    waitingFor: () => null,
    log: nobody,
    limits: limitsOf(readSettings({})),
    routes: [batchRoutes(nobody), guestRoutes(guests), insightRoutes(nobody), ratingRoutes(nobody)],
  });
  const answer = await api.inject({ url: '/openapi.json', headers: { host: 'localhost' } });
  await api.close();
  return answer.json();
}

const biome = fileURLToPath(new URL('../node_modules/.bin/biome', import.meta.url));

describe('the types of the client', () => {
  it('are those of the OpenAPI document', async () => {
    const source = operationsSource(await openapiDocument());
    const formatted = execFileSync(biome, ['format', '--stdin-file-path=operations.ts'], {
      input: source,
      encoding: 'utf8',
    });
    await expect(formatted).toMatchFileSnapshot('../packages/client/src/operations.ts');
  });
});

let server: Server | undefined;
interface Asked {
  readonly line: string;
  readonly authorization: string | undefined;
  readonly traceparent: unknown;
  readonly body: string;
}
const asked: Asked[] = [];

/** A server that gives these answers in turn, then the last one for ever. */
async function serverOf(
  ...answers: ((response: ServerResponse) => void)[]
): Promise<FreshetClient> {
  asked.length = 0;
  server = createServer(async (request: IncomingMessage, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { authorization, traceparent } = request.headers;
    asked.push({ line: `${request.method} ${request.url}`, authorization, traceparent, body });
    answers[Math.min(asked.length, answers.length) - 1]?.(response);
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return new FreshetClient({
    url: `http://127.0.0.1:${port}/`,
    token: 'secret',
    timeoutMs: 60_000,
  });
}

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  vi.useRealTimers();
});

const answers = (status: number, body: unknown) => (response: ServerResponse) => {
  response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
};
const list = { user: 'ada', items: [], model: {}, fallback: null };

describe('a client', () => {
  it('asks with its token, ids and wishes encoded', async () => {
    const client = await serverOf(answers(200, list));
    const wishes = { n: 3, exclude: ['a,b', 'c'], after: { partition: 2, offset: 7 } };
    expect(await client.recommend('ada/ö', wishes)).toEqual(list);
    await client.estimate('ada', ['a,b', 'c']);
    expect(asked.map(({ line }) => line)).toEqual([
      'GET /v1/recommendations/ada%2F%C3%B6?n=3&exclude=a%2Cb&exclude=c&after=2%3A7',
      'GET /v1/estimates/ada/a%2Cb,c',
    ]);
    expect(asked[0]?.authorization).toBe('Bearer secret');
  });

  it('retries where the answer may come later: 409, 429, 503, a lost connection', async () => {
    const lost = (response: ServerResponse) => void response.socket?.destroy();
    const away = answers(503, { detail: 'away' });
    const early = answers(409, { detail: 'not yet' });
    const proxy = answers(502, '<html>no scorer</html>');
    const client = await serverOf(lost, away, early, answers(429, ''), proxy, answers(200, list));
    expect(await client.recommend('ada')).toEqual(list);
    expect(asked).toHaveLength(6);
  });

  it('waits as long as an answer asks it to, or gives up at once if that is too long', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    const headers = { 'retry-after': '3' };
    const away = vi.fn(async () => new Response('{"detail":"away"}', { status: 503, headers }));
    const client = new FreshetClient({ url: 'http://127.0.0.1:9', timeoutMs: 5_000, fetch: away });
    const failing = client.popular().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(2_999);
    expect(away).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(away).toHaveBeenCalledTimes(2);
    expect(await failing).toMatchObject({ status: 503, retryAfterMs: 3_000 });
  });

  it('knows a Retry-After that is a date, as proxies send it', async () => {
    const headers = { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() };
    const busy = vi.fn(async () => new Response('{}', { status: 429, headers }));
    const client = new FreshetClient({ url: 'http://127.0.0.1:9', fetch: busy });
    const failure = (await client.popular().catch((error: unknown) => error)) as FreshetError;
    expect(failure.retryAfterMs).toBeGreaterThan(3_500_000);
    expect(busy).toHaveBeenCalledTimes(1);
  });

  it('can wait without an end', async () => {
    const client = await serverOf(answers(503, ''), answers(200, list));
    expect(await client.with({ timeoutMs: Number.POSITIVE_INFINITY }).popular()).toEqual(list);
  });

  it('refuses a token that no header may have, without telling it', () => {
    const refused = () => new FreshetClient({ url: 'http://h', token: 'hu\nsh' });
    expect(refused).toThrow('token has a character');
    expect(refused).not.toThrow(/hu\nsh/);
  });

  it('ends with the reason of its signal, while it waits or rests', async () => {
    const client = await serverOf(answers(503, ''), () => {});
    const ending = new AbortController();
    const waiting = client.with({ signal: ending.signal }).popular();
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    ending.abort('she left');
    await expect(waiting).rejects.toBe('she left');
    await expect(client.with({ signal: ending.signal }).popular()).rejects.toBe('she left');
    expect(asked).toHaveLength(2);

    const resting = new AbortController();
    const busy = async () => {
      setTimeout(() => resting.abort('she left'));
      return new Response('', { status: 503, headers: { 'retry-after': '30' } });
    };
    const patient = client.with({ signal: resting.signal, fetch: busy, timeoutMs: 3_600_000 });
    await expect(patient.popular()).rejects.toBe('she left');
  });

  it('keeps nothing of a call that is over, however late its deadline and long its signal lives', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = runInNewContext('gc');
    let asking: WeakRef<AbortSignal> | undefined;
    const send = async (_: unknown, { signal }: { signal?: AbortSignal | null } = {}) => {
      // As a fetch does that never takes its listener back.
      signal?.addEventListener('abort', () => {});
      if (signal) asking = new WeakRef(signal);
      return new Response('{}');
    };
    const ending = new AbortController();
    const options = { url: 'http://h', signal: ending.signal, timeoutMs: 3_600_000, fetch: send };
    await new FreshetClient(options).popular();
    await vi.waitFor(() => {
      collectGarbage();
      // A failed comparison of the signal itself would keep it.
      expect(asking !== undefined && asking.deref() === undefined).toBe(true);
    });
    expect(ending.signal.aborted).toBe(false);
  });

  it('sends the headers that it is given, and no token that is empty', async () => {
    const client = await serverOf(answers(200, list));
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await client.with({ headers: { traceparent }, token: '' }).popular();
    expect(asked[0]).toMatchObject({ traceparent, authorization: undefined });
  });

  it('ends any number of calls with one signal, and listens to it once', async () => {
    const ending = new AbortController();
    const late = async (_: unknown, { signal }: RequestInit = {}) =>
      new Promise<Response>((_, reject) => signal?.addEventListener('abort', reject));
    const client = new FreshetClient({ url: 'http://h', signal: ending.signal, fetch: late });
    const calls = Array.from({ length: 20 }, () => client.with({}).popular());
    // Node warns of a leak where there are more than ten.
    expect(getEventListeners(ending.signal, 'abort')).toHaveLength(1);
    ending.abort('she left');
    const reasons = await Promise.allSettled(calls);
    expect(reasons).toEqual(calls.map(() => ({ status: 'rejected', reason: 'she left' })));
  });

  it('sends each header once, in whatever case it is given', async () => {
    const send = vi.fn(async (_: unknown, __?: RequestInit) => new Response('{"ratings":[]}'));
    const given = { Authorization: 'Bearer other', 'Content-Type': 'application/json' };
    const options = { url: 'http://h', token: 'secret', headers: given, fetch: send };
    await new FreshetClient(options).rate({ user: 'ada', item: 'i' });
    expect(Object.fromEntries(new Headers(send.mock.calls[0]?.[1]?.headers))).toEqual({
      authorization: 'Bearer secret',
      'content-type': 'application/json',
    });
  });

  it.each([
    { headers: { 'a b': 'x' } },
    { headers: { traceparent: 'two\nlines' } },
    { timeoutMs: Number.NaN },
    { timeoutMs: -1 },
  ])('refuses at once what no request can be sent with: %j', (options) => {
    expect(() => new FreshetClient({ url: 'http://h', ...options })).toThrow(TypeError);
  });

  it('does not take a page for an answer, and names where it is redirected to', async () => {
    const client = await serverOf(answers(200, '<html>sign in</html>'), (response) => {
      response.writeHead(301, { location: 'https://freshet.example/' }).end();
    });
    const page = client.popular();
    await expect(page).rejects.toMatchObject({ status: 200, isRetryable: false });
    await expect(page).rejects.toThrow('sign in');
    const moved = client.rate({ user: 'ada', item: 'i' });
    await expect(moved).rejects.toMatchObject({ status: 301, isRetryable: false });
    await expect(moved).rejects.toThrow('https://freshet.example/');
    expect(asked).toHaveLength(2);
  });

  it.each(['', '.', '..'])(
    'refuses %j as an id in a path, which would be another path',
    async (id) => {
      const client = await serverOf(answers(202, {}));
      await expect(client.forget(id)).rejects.toThrow(TypeError);
      await expect(client.unrate('ada', id)).rejects.toThrow(TypeError);
      expect(asked).toEqual([]);
    },
  );

  it.each([
    ['http://h/freshet//', 'http://h/freshet/v1/items/popular'],
    ['https://h:1?a=b', 'https://h:1/v1/items/popular'],
  ])('asks below %j', async (url, address) => {
    const send = vi.fn(async (_: unknown) => new Response('{}'));
    await new FreshetClient({ url, fetch: send }).popular();
    expect(send.mock.calls[0]?.[0]).toBe(address);
  });

  it.each(['127.0.0.1:8080', 'localhost:8080', 'http://ada:hush@h'])(
    'refuses the url %j',
    (url) => {
      const refused = () => new FreshetClient({ url });
      expect(refused).toThrow(TypeError);
      expect(refused).not.toThrow('hush');
    },
  );

  it('writes the very same rating again when it retries: with the time of the first attempt', async () => {
    const place = { ratings: [{ partition: 0, offset: 1 }] };
    const client = await serverOf(answers(503, ''), answers(202, place));
    // A time that is undefined is none, whatever the types of the caller allow.
    const rating = JSON.parse('{"user":"ada","item":"i","value":5}');
    expect(await client.rate({ ...rating, time: undefined })).toEqual(place.ratings);
    expect(asked[1]?.body).toBe(asked[0]?.body);
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual([
      { user: 'ada', item: 'i', value: 5, time: expect.any(Number) },
    ]);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses %j as a number of a body: JSON has null for it, which would take a rating back',
    async (value) => {
      const client = await serverOf(answers(202, {}));
      const item = 'i';
      await expect(client.rate({ user: 'ada', item, value })).rejects.toThrow(TypeError);
      await expect(client.rate({ user: 'ada', item, time: value })).rejects.toThrow('time is');
      const guest = { ratings: [{ item, value }] };
      await expect(client.recommendToGuest(guest)).rejects.toThrow(TypeError);
      expect(asked).toEqual([]);
    },
  );

  it('does not retry what is wrong, and tells the problem', async () => {
    const problem = { status: 400, detail: 'n must be at least 1', reason: 'bad' };
    const client = await serverOf(answers(400, problem));
    const failure = await client.popular({ n: 0 }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(FreshetError);
    expect(failure).toMatchObject({ status: 400, isRetryable: false, fields: problem });
    expect((failure as Error).message).toContain('n must be at least 1');
    expect(asked).toHaveLength(1);
  });

  it('gives up at its deadline with the last reason, whatever a proxy answers', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    const busy = vi.fn(async () => new Response('<html>busy</html>', { status: 503 }));
    const client = new FreshetClient({ url: 'http://127.0.0.1:9', timeoutMs: 1_500, fetch: busy });
    const failing = client.forget('ada').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_500);
    const failure = await failing;
    expect(failure).toMatchObject({ status: 503, isRetryable: true });
    expect((failure as Error).message).toContain('busy');
    expect(busy.mock.calls.length).toBeGreaterThan(2);
  });

  it('says that no answer came where nobody answers', async () => {
    const client = new FreshetClient({ url: 'http://127.0.0.1:9', timeoutMs: 100 });
    const failure = await client.ratingsOf('ada').catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: undefined, isRetryable: true });
    expect((failure as Error).message).toContain('no answer');
  });
});
