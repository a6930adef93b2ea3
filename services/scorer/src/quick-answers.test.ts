import { type AddressInfo, connect } from 'node:net';
import { readSettings } from '@freshet/config';
import { afterEach, describe, expect, it } from 'vitest';
import { limitsOf } from './answer-schemas.ts';
import { httpApi } from './http-api.ts';

type Options = Parameters<typeof httpApi>[0];
let api: ReturnType<typeof httpApi> | undefined;
/** Which way the answers took. */
let ways: string[] = [];

const listOf = (user: string, n: number) => JSON.stringify({ user, n, title: 'Amélie ☕' });
const both: Options['recommender'] = {
  answerKept(user, n, done, failed) {
    if (user === 'uncached') return false;
    ways.push('quick');
    setTimeout(() => (user === 'broken' ? failed(new Error('no')) : done(listOf(user, n))));
    return true;
  },
  async recommendInJson(user, n) {
    ways.push('fastify');
    return listOf(user, n);
  },
};

async function open(
  options: Partial<Options> = {},
): Promise<(path: string, init?: object) => Promise<Response>> {
  ways = [];
  const log = { warn: () => {}, error: () => {} };
  const limits = limitsOf(readSettings({}));
  api = httpApi({ recommender: both, token: '', waitingFor: () => null, log, limits, ...options });
  const url = await api.listen({ host: '127.0.0.1', port: 0 });
  return (path, init) => fetch(`${url}/v1/recommendations/${path}`, init);
}

afterEach(() => api?.close());

/** All headers but the time. */
function headersOf({ headers }: Response): Record<string, string> {
  const { date, ...others } = Object.fromEntries(headers);
  return others;
}

describe('a plain request for the list of a cached user', () => {
  it('gets before fastify what fastify answers, body and headers alike', async () => {
    const get = await open();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    for (const headers of [{}, { 'x-request-id': 'mine', traceparent }, { 'x-request-id': 'é' }]) {
      const quick = await get('ann', { headers });
      const slow = await get('ann?offset=0', { headers });
      expect(quick.status).toBe(slow.status);
      expect(await quick.text()).toBe(await slow.text());
      expect(headersOf(quick)).toEqual(headersOf(slow));
    }
    expect(ways).toEqual(['quick', 'fastify', 'quick', 'fastify', 'quick', 'fastify']);
  });

  it('may say how many items it wants, within the limit', async () => {
    const get = await open();
    expect(await (await get('ann?n=3')).json()).toMatchObject({ n: 3 });
    expect((await get('ann?n=0')).status).toBe(400);
    expect((await get('ann?n=9999')).status).toBe(400);
    expect(ways).toEqual(['quick']);
  });

  it('is left to fastify if it fails, or if its user is not cached', async () => {
    const get = await open();
    expect((await get('broken')).status).toBe(200);
    expect((await get('uncached')).status).toBe(200);
    expect(ways).toEqual(['quick', 'fastify', 'fastify']);
  });

  it('is refused without the token, and a wrong one counts as one guess', async () => {
    const delays: number[] = [];
    const clock = {
      now: () => 0,
      after: (ms: number, then: () => void) => {
        delays.push(ms);
        setImmediate(then);
      },
    };
    const statuses = async (path: string) => {
      const get = await open({ token: 's3cret', clock });
      const ask = async (token: string) =>
        (await get(path, { headers: { authorization: `Bearer ${token}` } })).status;
      const answers: number[] = [(await get(path)).status];
      for (const token of ['a', 'b', 'c', 'd', 'e', 's3cret']) answers.push(await ask(token));
      await api?.close();
      return answers;
    };
    const quick = await statuses('ann');
    const delayed = delays.splice(0);
    expect(quick).toEqual([401, 401, 401, 401, 401, 401, 200]);
    expect(await statuses('ann?offset=0')).toEqual(quick);
    expect(delays).toEqual(delayed);
  });

  it('may be given up by its client before it is answered', async () => {
    const get = await open();
    const address = api?.server.address() as AddressInfo;
    const socket = connect(address.port, '127.0.0.1');
    socket.write('GET /v1/recommendations/ann HTTP/1.1\r\nHost: localhost\r\n\r\n');
    while (ways.length === 0) await new Promise((resolve) => setTimeout(resolve));
    socket.destroy();
    expect(await (await get('bob')).json()).toMatchObject({ user: 'bob' });
  });

  it('is refused while the scorer is not ready', async () => {
    const get = await open({ waitingFor: () => 'Kafka' });
    const answer = await get('ann');
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(ways).toEqual([]);
  });

  it('is left to fastify if it is not a GET', async () => {
    const get = await open();
    const head = await get('ann', { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(listOf('ann', 10))));
    expect(ways).toEqual(['fastify']);
  });
});
