import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '@freshet/service';
import { eventually } from '@freshet/testkit';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Broadcast } from './broadcast.ts';
import { consoleServer } from './console-server.ts';
import { EventStream } from './live/event-stream.ts';
import { type Frame, seriesNames } from './live/frame.ts';

const html = { bytes: Buffer.from('<p>'), type: 'text/html', immutable: false };
const files = new Map([
  ['/', html],
  ['/assets/a.js', { ...html, type: 'text/javascript', immutable: true }],
]);
const history = { names: seriesNames, samples: [], services: [], letters: [] };
const frame: Frame = { at: 1, values: seriesNames.map(() => 1), services: [], letters: [] };
const host = 'localhost:8081';

let scorer: Server;
let asked: { method: string; url: string; token: string | undefined; body: string }[] = [];
const open: FastifyInstance[] = [];
const complaints: unknown[] = [];

beforeAll(async () => {
  scorer = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const { method = '', url = '', headers } = request;
    asked.push({ method, url, token: headers.authorization, body });
    response.setHeader('content-type', 'application/json');
    response.writeHead(method === 'POST' ? 202 : 200).end('{"ok":true}');
  });
  await new Promise<void>((resolve) => scorer.listen(0, '127.0.0.1', resolve));
});
afterAll(() => scorer.close());
afterEach(async () => {
  asked = [];
  for (const api of open.splice(0)) await api.close();
});

function started(
  token = '',
  url = `http://127.0.0.1:${(scorer.address() as AddressInfo).port}`,
  clock?: Clock,
) {
  const broadcast = new Broadcast(() => {});
  const api = consoleServer({
    files,
    token,
    scorer: { url, token },
    broadcast,
    history: () => history,
    log: { error: (...what: unknown[]) => complaints.push(what) },
    ...(clock === undefined ? {} : { clock }),
  });
  open.push(api);
  return { api, broadcast };
}

async function listening(api: FastifyInstance): Promise<string> {
  await api.listen({ host: '127.0.0.1', port: 0 });
  return `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`;
}

describe('the console over HTTP', () => {
  it('gives the page under a policy that lets it load from nowhere else', async () => {
    const { api } = started();
    const page = await api.inject({ url: '/', headers: { host } });
    expect(page.statusCode).toBe(200);
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'self';/);
    expect(page.headers['cache-control']).toBe('no-cache');
    expect(page.headers['cross-origin-resource-policy']).toBe('same-origin');
    const script = await api.inject({ url: '/assets/a.js', headers: { host } });
    expect(script.headers['cache-control']).toContain('immutable');
    const answer = await api.inject({ url: '/v1/items/popular', headers: { host } });
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('asks for the token everywhere but for the page itself', async () => {
    const { api } = started('secret');
    const at = (url: string, authorization = '') =>
      api.inject({ url, headers: { host: 'console.example', authorization } });
    expect((await at('/')).statusCode).toBe(200);
    expect((await at('/events')).statusCode).toBe(401);
    expect((await at('/v1/users/ann', 'Bearer wrong')).statusCode).toBe(401);
    expect((await at('/v1/users/ann', 'Bearer secret')).statusCode).toBe(200);
    expect(asked).toMatchObject([{ url: '/v1/users/ann', token: 'Bearer secret' }]);
  });

  it('looks at the token of an address that guesses later and later, and at no other’s', async () => {
    const timers: number[] = [];
    const after = (ms: number, then: () => void) => {
      timers.push(ms);
      then();
    };
    const { api } = started('secret', undefined, { now: () => 0, after });
    const ask = async (token: string, remoteAddress: string) => {
      const headers = { host: 'console.example', authorization: `Bearer ${token}` };
      return (await api.inject({ url: '/v1/users/ann', headers, remoteAddress })).statusCode;
    };
    for (let nth = 0; nth < 7; nth++) expect(await ask('wrong', '192.0.2.1')).toBe(401);
    expect(await ask('secret', '192.0.2.2')).toBe(200);
    expect(timers).toEqual([100, 200]);
  });

  it('answers no other page, whatever name that has given this machine', async () => {
    const { api } = started();
    const strangers: Record<string, string>[] = [
      { host, 'sec-fetch-site': 'cross-site' },
      { host, 'sec-fetch-site': 'same-site' },
      { host, origin: 'https://evil.example' },
      { host, origin: 'null' },
    ];
    for (const headers of strangers) {
      const body = { user: 'a', item: 'b' };
      const { statusCode } = await api.inject({
        method: 'POST',
        url: '/v1/ratings',
        headers,
        body,
      });
      expect(statusCode, JSON.stringify(headers)).toBe(403);
    }
    const rebound = { url: '/v1/items/popular', headers: { host: 'rebound.example:8081' } };
    expect((await api.inject(rebound)).statusCode).toBe(421);
    expect(asked).toEqual([]);
    const own = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
    expect((await api.inject({ url: '/v1/items/popular', headers: own })).statusCode).toBe(200);
  });
});

describe('the scorer behind the console', () => {
  it('is asked for what the page needs, path and body as they came', async () => {
    const { api } = started();
    const url = '/v1/recommendations/a%2Fb?n=3&after=1%3A7';
    expect((await api.inject({ url, headers: { host } })).json()).toEqual({ ok: true });
    const body = { user: 'ann', item: 'é', value: 5 };
    const posted = { method: 'POST', url: '/v1/ratings', headers: { host }, body } as const;
    expect((await api.inject(posted)).statusCode).toBe(202);
    expect(asked.map(({ method, url: path }) => `${method} ${path}`)).toEqual([
      `GET ${url}`,
      'POST /v1/ratings',
    ]);
    expect(JSON.parse(asked[1]?.body ?? '')).toEqual(body);
  });

  it('is asked for nothing else', async () => {
    const { api } = started();
    const others = [
      ['DELETE', '/v1/users/ann'],
      ['DELETE', '/v1/ratings/ann/tea'],
      ['POST', '/v1/recommendations/batch'],
      ['GET', '/openapi.json'],
    ] as const;
    for (const [method, url] of others) {
      expect((await api.inject({ method, url, headers: { host } })).statusCode, url).toBe(404);
    }
    expect(asked).toEqual([]);
  });

  it('is not bothered with a body that is too long or no JSON', async () => {
    const { api } = started();
    const posted = { method: 'POST', url: '/v1/ratings' } as const;
    const json = { host, 'content-type': 'application/json' };
    const long = { user: 'a', item: 'b', note: 'x'.repeat(20_000) };
    expect((await api.inject({ ...posted, headers: json, body: long })).statusCode).toBe(413);
    const broken = await api.inject({ ...posted, headers: json, body: '{"user":' });
    expect(broken.statusCode).toBe(400);
    expect(broken.json().detail).toMatch(/JSON/);
    expect([asked, complaints]).toEqual([[], []]);
  });

  it('that is away is told as such', async () => {
    const { api } = started('', 'http://127.0.0.1:1');
    const answer = await api.inject({ url: '/v1/items/popular', headers: { host } });
    expect(answer.statusCode).toBe(502);
    expect(answer.json().detail).toBe('the scorer does not answer');
  });
});

describe('the stream of frames', () => {
  function connected(url: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => get(`${url}/events`, resolve).on('error', reject));
  }

  it('tells the history first and then every frame, to all who look', async () => {
    const { api, broadcast } = started();
    const url = await listening(api);
    const pages = await Promise.all([connected(url), connected(url)]);
    const heard = pages.map((page) => {
      const events: ReturnType<EventStream['read']> = [];
      const stream = new EventStream();
      page.setEncoding('utf8').on('data', (text: string) => events.push(...stream.read(text)));
      return events;
    });
    expect(broadcast.viewers).toBe(2);
    broadcast.deliver(frame);
    broadcast.deliver(frame);
    await eventually('the frames', async () => heard.every((events) => events.length === 3));
    for (const events of heard) {
      expect(events.map(({ name }) => name)).toEqual(['history', 'frame', 'frame']);
    }
    for (const page of pages) page.destroy();
    await eventually('nobody to look', async () => broadcast.viewers === 0);
  });

  it('lets go of a page that does not read, and the others go on', async () => {
    const { api, broadcast } = started();
    const url = await listening(api);
    const [reading, deaf] = await Promise.all([connected(url), connected(url)]);
    let bytes = 0;
    reading?.on('data', (piece: Buffer) => {
      bytes += piece.length;
    });
    deaf?.on('error', () => {}).pause();
    const large = { ...frame, letters: Array(200).fill({ preview: 'x'.repeat(1_000) }) };
    let sent = 0;
    await eventually('the deaf one to be let go', async () => {
      broadcast.deliver(large);
      sent += JSON.stringify(large).length;
      return broadcast.viewers === 1;
    });
    await eventually('the other one to hear everything', async () => bytes > sent);
    expect(broadcast.viewers).toBe(1);
    reading?.destroy();
  });
});
