/** Whatever a client sends is answered with a clear 4xx; nothing crashes. */
import { connect } from 'node:net';
import type { Recommendation } from '@freshet/events';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpApi } from './http-api.ts';
import { insightRoutes } from './insight-routes.ts';
import type { Insights } from './insights.ts';
import { type GivenRating, RatingLog } from './rating-log.ts';
import { ratingRoutes } from './rating-routes.ts';
import { batchRoutes, guestRoutes } from './recommendation-routes.ts';

const model = { name: 'm', position: 1 };
const complain = (told: object, message: string) => {
  throw new Error(`${message}: ${JSON.stringify(told)}`);
};
const log = { warn: complain, error: complain };
const limits = {
  bodyBytes: 256 << 10,
  requestMs: 300,
  items: 1_000,
  offset: 10_000,
  ids: 1_000,
  users: 100,
};
let api: FastifyInstance;
let url: string;
const appended: (string | undefined)[] = [];

beforeAll(async () => {
  const recommend = async (user: string): Promise<Recommendation> => ({
    user,
    items: [],
    model,
    fallback: null,
  });
  const recommender = {
    recommend,
    answerKept: () => false,
    recommendInJson: async (user: string) => JSON.stringify(await recommend(user)),
    recommendTo: async () => ({ items: [], model, fallback: null }),
  };
  const answer = async () => ({ items: [], model, fallback: null });
  const insights: Pick<
    Insights,
    'estimates' | 'similar' | 'next' | 'popular' | 'because' | 'user'
  > = {
    estimates: async (user, items) => ({
      user,
      items: items.map((item) => ({ item, score: 1, expectedValue: 3 })),
      model,
      fallback: null,
    }),
    similar: async (item) => ({ ...(await answer()), item }),
    next: async (item) => ({ ...(await answer()), item }),
    popular: answer,
    because: async (user) => ({
      user,
      score: 0,
      contributions: [],
      popular: 0,
      newcomers: 0,
      mean: 0,
      after: [],
      rest: 0,
      model,
      fallback: null,
    }),
    user: async (user) => ({ user, ratings: [], model, fallback: null }),
  };
  const appendAll = async (records: readonly { value: Buffer | null }[]) =>
    records.map(({ value }) => appended.push(value?.toString()));
  const ratings = new RatingLog({
    publisher: { appendAll },
    admin: { ends: async () => new Map([[0, 0]]) },
    topic: 'ratings',
    rules: { valueMax: 10, schemaIds: [] },
  });
  const guest = {
    recommender,
    guests: { fold: () => null },
    catalogue: { knownSlots: () => [] },
    ratingMax: 10,
  };
  const routes = [
    batchRoutes(recommender),
    guestRoutes(guest),
    insightRoutes(insights as Insights),
    ratingRoutes(ratings),
  ];
  api = httpApi({ recommender, token: '', waitingFor: () => null, log, limits, routes });
  url = await api.listen({ port: 0, host: '127.0.0.1' });
});

afterAll(() => api.close());

interface Sent {
  method?: string;
  body?: string;
  type?: string;
}

async function status(path: string, { method, body, type }: Sent = {}): Promise<number> {
  const response = await fetch(url + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    ...(body === undefined
      ? {}
      : { body, headers: { 'content-type': type ?? 'application/json' } }),
  });
  const text = await response.text();
  expect(response.headers.get('x-content-type-options'), path).toBe('nosniff');
  if (response.status >= 400) {
    expect(response.headers.get('content-type'), path).toContain('application/problem+json');
    expect(JSON.parse(text), path).toMatchObject({ type: 'about:blank', status: response.status });
  }
  return response.status;
}

const json = (body: unknown): Sent => ({ body: JSON.stringify(body) });
const LIST = '/v1/recommendations/ada';

describe('numbers', () => {
  it('out of bounds are refused', async () => {
    const bad = ['n=0', 'n=-1', 'n=1e9', 'n=NaN', 'n=1.5', 'offset=-1', 'offset=10001', 'offset=x'];
    for (const query of bad) expect(await status(`${LIST}?${query}`), query).toBe(400);
    const places = ['7', 'a:b', '1:', ':1', '1:-1', '1:1e3', '/1:1', 'a b/1:1', 'a/b/1:1'];
    for (const after of [...places, `1:${'9'.repeat(20)}`]) {
      expect(await status(`${LIST}?after=${after}`), after).toBe(400);
    }
    for (const value of ['-1', '11', '1e400', '"x"', '[]']) {
      const body = `{"user":"u","item":"i","value":${value}}`;
      expect(await status('/v1/ratings', { body }), body).toBe(400);
    }
  });
});

describe('ids', () => {
  it('may hold anything that UTF-8 can write', async () => {
    for (const id of ['a/b', '\0', '🎬', 'a b', '%', '..', 'x'.repeat(256)]) {
      const encoded = id === '..' ? '%2E%2E%20' : encodeURIComponent(id);
      for (const path of [
        `/v1/recommendations/${encoded}`,
        `/v1/estimates/u/${encoded},x`,
        `/v1/items/${encoded}/similar`,
        `/v1/users/${encoded}/because/${encoded}`,
        `/v1/users/${encoded}`,
      ]) {
        expect(await status(path), path).toBe(200);
      }
      expect(await status(`/v1/users/${encoded}`, { method: 'DELETE' })).toBe(202);
      expect(await status(`/v1/ratings/u/${encoded}`, { method: 'DELETE' })).toBe(202);
    }
  });

  it('longer than 256 bytes, empty or broken are refused', async () => {
    for (const id of ['x'.repeat(300), '🎬'.repeat(65), '%FF', '%ED%A0%80']) {
      const encoded = id.startsWith('%') ? id : encodeURIComponent(id);
      for (const path of [
        `/v1/recommendations/${encoded}`,
        `/v1/estimates/u/x,${encoded}`,
        `/v1/estimates/${encoded}/x`,
        `/v1/items/${encoded}/similar`,
        `/v1/users/u/because/${encoded}`,
        `/v1/users/${encoded}`,
      ]) {
        expect(await status(path), path).toBe(400);
      }
      expect(await status(`/v1/users/${encoded}`, { method: 'DELETE' })).toBe(400);
    }
    expect(await status('/v1/estimates/u/a,,b')).toBe(400);
    expect(await status('/v1/ratings', json({ user: '\ud800', item: 'i' }))).toBe(400);
    expect(await status('/v1/ratings', json({ user: '', item: 'i' }))).toBe(400);
  });
});

describe('too much', () => {
  it('in a body is refused: 10 MB, 10,000 excludes, 101 users, 101 ratings', async () => {
    expect(await status('/v1/recommendations', { body: `"${'x'.repeat(10 << 20)}"` })).toBe(413);
    const ids = Array.from({ length: 10_000 }, (_, n) => `i${n}`);
    expect(await status('/v1/recommendations', json({ ratings: [], exclude: ids }))).toBe(400);
    const users = ids.slice(0, 101);
    expect(await status('/v1/recommendations/batch', json({ users }))).toBe(400);
    const ratings = users.map((user) => ({ user, item: 'i' }));
    expect(await status('/v1/ratings', json(ratings))).toBe(400);
    expect(await status('/v1/ratings', json(ratings.slice(1)))).toBe(202);
  });

  it('in a query is refused', async () => {
    const many = Array.from({ length: 10_000 }, (_, n) => `exclude=i${n}`).join('&');
    expect(await status(`${LIST}?${many}`)).toBe(431);
    expect(await (await fetch(`${url}${LIST}?${many}`)).text()).toContain('ask by POST');
    const items = Array.from({ length: 1_001 }, (_, n) => `i${n}`).join(',');
    expect(await status(`/v1/estimates/u/${items}`)).toBe(400);
  });
});

describe('bodies', () => {
  it('of unknown types are refused', async () => {
    for (const type of ['text/plain', 'application/xml', 'nonsense', 'multipart/form-data']) {
      expect(await status('/v1/ratings', { body: '{}', type }), type).toBe(415);
    }
  });

  it('that make no sense are refused, and nothing of them is written', async () => {
    const before = appended.length;
    const bad = ['', '{', 'null', '7', '[]', '[[]]', '{}', '[{"user":"u"}]', '{"__proto__":{}}'];
    for (const body of bad) expect(await status('/v1/ratings', { body }), body).toBe(400);
    const half = json([
      { user: 'u', item: 'i', value: 1 },
      { user: 'u', item: 'i', value: 99 },
    ]);
    expect(await status('/v1/ratings', half)).toBe(400);
    expect(appended.length).toBe(before);
  });

  it('have no value made of none: of a blank, of false, of a list or, from a guest, of null', async () => {
    const before = appended.length;
    for (const value of ['', ' ', false, true, [null], [''], '0x5']) {
      expect(await status('/v1/ratings', json({ user: 'u', item: 'i', value }))).toBe(400);
    }
    for (const value of ['', ' ', false, null, [null]]) {
      expect(await status('/v1/recommendations', json({ ratings: [{ item: 'i', value }] }))).toBe(
        400,
      );
    }
    expect(appended.length).toBe(before);
  });

  it('have no time made of none, and no id of what is not exactly one', async () => {
    const before = appended.length;
    const rating = { user: 'u', item: 'i', value: 3 };
    for (const time of ['', ' ', false, [null]]) {
      expect(await status('/v1/ratings', json({ ...rating, time }))).toBe(400);
    }
    for (const id of [true, ['u'], 2 ** 60, 1.5]) {
      expect(await status('/v1/ratings', json({ ...rating, user: id }))).toBe(400);
      expect(await status('/v1/ratings', json([rating, { ...rating, item: id }]))).toBe(400);
      expect(await status('/v1/recommendations', json({ ratings: [{ item: id }] }))).toBe(400);
      const users = { users: [id] };
      expect(await status('/v1/recommendations/batch', json(users))).toBe(400);
    }
    const excluded = { users: ['u'], exclude: ['i', 2 ** 60] };
    expect(await status('/v1/recommendations/batch', json(excluded))).toBe(400);
    expect(appended.length).toBe(before);
    expect(await status('/v1/ratings', json({ user: 7, item: 8, value: '3' }))).toBe(202);
    expect(JSON.parse(appended.at(-1) ?? '')).toEqual({ user: '7', item: '8', value: 3 });
  });

  it('without a time, or with null for one, are ratings of now', async () => {
    for (const time of [undefined, null]) {
      expect(await status('/v1/ratings', json({ user: 'u', item: 'i', value: 3, time }))).toBe(202);
      expect(JSON.parse(appended.at(-1) ?? '')).toEqual({ user: 'u', item: 'i', value: 3 });
    }
  });

  it('are written as they came, a rating taken back and a user forgotten too', async () => {
    const rating: GivenRating = { user: 'u', item: 'i', value: 3, time: 5 };
    const response = await fetch(`${url}/v1/ratings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(rating),
    });
    const { ratings } = (await response.json()) as { ratings: object[] };
    expect(ratings).toEqual([{ partition: expect.any(Number), offset: appended.length }]);
    expect(JSON.parse(appended.at(-1) ?? '')).toEqual(rating);
    await status('/v1/ratings/u/i', { method: 'DELETE' });
    expect(JSON.parse(appended.at(-1) ?? '')).toEqual({ user: 'u', item: 'i', value: null });
    await status('/v1/users/u', { method: 'DELETE' });
    expect(appended.at(-1)).toBeUndefined();
  });
});

describe('clients', () => {
  it('that send no HTTP, or never finish, keep nobody else waiting', async () => {
    const port = Number(new URL(url).port);
    const rude = [
      '\x16\x03\x01 hello',
      'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ',
      'POST /v1/ratings',
    ];
    const sockets = rude.flatMap((text) =>
      Array.from({ length: 20 }, () => {
        const socket = connect(port, '127.0.0.1').on('error', () => {});
        socket.write(text);
        return socket;
      }),
    );
    const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    expect(await status(LIST)).toBe(200);
    for (const socket of sockets) socket.resume();
    await Promise.all(closed);
    expect(await status(LIST)).toBe(200);
  });
});

describe('requests for another name than loopback, while there is no token', () => {
  /** Sends a head as it is: fetch would not let a test choose Host. */
  async function answerTo(head: string): Promise<string> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
    socket.write(`GET ${LIST} HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
    let answer = '';
    for await (const piece of socket) answer += piece;
    return answer;
  }

  it('are 421, also without Host, with two of them or with nonsense', async () => {
    const heads = [
      'Host: rebound.example\r\n',
      'Host: localhost.rebound.example:8080\r\n',
      '',
      'Host:\r\n',
      'Host: localhost\r\nHost: rebound.example\r\n',
      'Host: localhost\r\nHost: localhost\r\n',
      'Host: ]]:x\r\n',
    ];
    for (const head of heads) {
      const answer = await answerTo(head);
      expect(answer, head).toMatch(/^HTTP\/1\.1 421 /);
      expect(answer, head).toContain('application/problem+json');
      expect(answer, head).toContain('set HTTP_TOKEN');
    }
  });

  it('are the only ones: every name of loopback is answered', async () => {
    for (const host of ['localhost', 'LOCALHOST.:80', '127.0.0.1:1', '127.9.9.9', '[::1]:8080']) {
      expect(await answerTo(`Host: ${host}\r\n`), host).toMatch(/^HTTP\/1\.1 200 /);
    }
  });

  it('cannot be read at all where they are no HTTP, with the headers of every answer', async () => {
    const answer = await answerTo('No header at all\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain("content-security-policy: default-src 'none'");
  });
});

describe('/openapi.json', () => {
  it('describes every route, by its own schemas', async () => {
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
      openapi: string;
      components: { schemas: object };
      paths: Record<
        string,
        Record<string, { parameters: { name: string }[]; requestBody?: { required: boolean } }>
      >;
    };
    expect(document.openapi).toBe('3.1.0');
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(routes.sort()).toEqual([
      'DELETE /v1/ratings/{user}/{item}',
      'DELETE /v1/users/{user}',
      'GET /v1/estimates/{user}/{items}',
      'GET /v1/items/popular',
      'GET /v1/items/{item}/next',
      'GET /v1/items/{item}/similar',
      'GET /v1/recommendations/{user}',
      'GET /v1/users/{user}',
      'GET /v1/users/{user}/because/{item}',
      'POST /v1/ratings',
      'POST /v1/recommendations',
      'POST /v1/recommendations/batch',
    ]);
    // A schema that stands at several places has one name: generators make one type of it.
    const named = Object.keys(document.components.schemas);
    expect(named).toEqual(expect.arrayContaining(['Problem', 'Rating', 'Recommendation']));
    const told = JSON.stringify(document);
    // What generators make no type of, and no default.
    for (const trap of ['["object","null"]', '"default":[]']) expect(told).not.toContain(trap);
    for (const name of named) expect(told.split(`"title":"${name}"`)).toHaveLength(2);
    const bodies = Object.values(document.paths).flatMap(({ post }) => post?.requestBody ?? []);
    expect(bodies.map(({ required }) => required)).toEqual([true, true, true]);
    // As a text, generated clients would encode its commas.
    const [, items] = document.paths['/v1/estimates/{user}/{items}']?.get?.parameters ?? [];
    expect(items).toMatchObject({ name: 'items', schema: { type: 'array' } });
    const list = document.paths['/v1/recommendations/{user}']?.get?.parameters ?? [];
    expect(list.map(({ name }) => name)).toEqual([
      'user',
      'n',
      'offset',
      'exclude',
      'include_rated',
      'category',
      'after',
    ]);
  });
});
