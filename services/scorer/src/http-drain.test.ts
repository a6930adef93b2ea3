import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { readSettings } from '@freshet/config';
import { expect, it } from 'vitest';
import { limitsOf } from './answer-schemas.ts';
import { httpApi } from './http-api.ts';

const LONG_MS = 3_600_000;

/** The API of a scorer, and a client with one connection that it keeps for as long as it may. */
async function open(drain: { readonly quietMs: number; readonly longestMs: number }) {
  const api = httpApi({
    recommender: { answerKept: () => false, recommendInJson: async () => '{}' },
    log: { warn: () => {}, error: () => {} },
    limits: limitsOf(readSettings({})),
    token: '',
    waitingFor: () => null,
    drain,
  });
  const url = await api.listen({ host: '127.0.0.1', port: 0 });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = () =>
    new Promise<string>((resolve) => {
      const request = get(`${url}/v1/recommendations/ann`, { agent }, (response) => {
        const { statusCode, headers } = response.resume();
        response.on('end', () => resolve(`${statusCode} ${headers.connection}`));
      });
      request.on('error', (error) => resolve(String('code' in error && error.code)));
    });
  return { api, ask, url };
}

it('a scorer that is stopped answers until nobody asks, and ends each connection', async () => {
  const { api, ask } = await open({ quietMs: 1_000, longestMs: LONG_MS });
  expect(await ask()).toBe('200 keep-alive');
  const closing = api.close();
  for (let nth = 0; nth < 20; nth++) expect(await ask()).toBe('200 close');
  await closing;
  expect(await ask()).toBe('ECONNREFUSED');
});

it('a scorer that is stopped answers all that was sent at once on one connection', async () => {
  const { api, ask, url } = await open({ quietMs: 1_000, longestMs: LONG_MS });
  expect(await ask()).toBe('200 keep-alive');
  const { hostname, port, host } = new URL(url);
  const closing = api.close();
  const request = `GET /v1/recommendations/ann HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const socket = connect(Number(port), hostname).end(request.repeat(5));
  const answers = await text(socket);
  expect(answers.match(/HTTP\/1.1 200/g)?.length).toBe(5);
  expect(answers.match(/connection: close/gi)?.length).toBe(1);
  await closing;
});

it('a scorer that is stopped waits for those who go on asking as long as it may, not longer', async () => {
  const { api, ask } = await open({ quietMs: LONG_MS, longestMs: 50 });
  expect(await ask()).toBe('200 keep-alive');
  await api.close();
  expect(await ask()).toMatch(/ECONN/);
});

it('a scorer that nobody asks is stopped at once', async () => {
  const { api, ask } = await open({ quietMs: LONG_MS, longestMs: LONG_MS });
  await api.close();
  expect(await ask()).toBe('ECONNREFUSED');
});
