import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verdict } from '@freshet/telemetry';
import { afterEach, expect, it, vi } from 'vitest';
import { OauthTokens, REAUTHENTICATION_MS } from './oauth-tokens.ts';

let server: Server | undefined;
let asked = 0;

afterEach(() => {
  vi.useRealTimers();
  server?.close();
});

const given = (value: string) => ({ value, extensions: {} });

/** An endpoint whose nth answer is the nth of these, then the last one for ever. */
async function tokensFrom(...answers: readonly [status: number, body: object][]) {
  asked = 0;
  server = createServer((_, response) => {
    const [status, body] = answers[Math.min(asked++, answers.length - 1)] ?? [500, {}];
    response.writeHead(status).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const tokenUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  const client = { clientId: 'freshet', clientSecret: 'hush', scope: '', extensions: {}, ca: '' };
  return new OauthTokens({ mechanism: 'oauthbearer', tokenUrl, ...client });
}

it('one request serves all who ask meanwhile, and those who ask later', async () => {
  const tokens = await tokensFrom([200, { access_token: 'a', expires_in: 300 }]);
  const all = await Promise.all([tokens.token(), tokens.token(), tokens.token()]);
  expect(all).toEqual([given('a'), given('a'), given('a')]);
  expect(await tokens.token()).toEqual(given('a'));
  expect(asked).toBe(1);
});

it('a token that is about to end is replaced', async () => {
  const tokens = await tokensFrom(
    [200, { access_token: 'a', expires_in: 0 }],
    [200, { access_token: 'b', expires_in: 300 }],
  );
  expect(await tokens.token()).toEqual(given('a'));
  expect(await tokens.token()).toEqual(given('b'));
});

it.each([undefined, null, 'soon'])(
  'a token with the life %s is used for less than a minute',
  async (life) => {
    const tokens = await tokensFrom(
      [200, { access_token: 'a', expires_in: life }],
      [200, { access_token: 'b', expires_in: '300' }],
    );
    vi.useFakeTimers({ toFake: ['performance'] });
    for (const [passed, value] of [
      [0, 'a'],
      [40_000, 'a'],
      [20_000, 'b'],
      [200_000, 'b'],
    ] as const) {
      vi.advanceTimersByTime(passed);
      expect(await tokens.token()).toEqual(given(value));
    }
  },
);

it('a token is replaced before connections with it have to authenticate again', async () => {
  const tokens = await tokensFrom(
    [200, { access_token: 'a', expires_in: 20 }],
    [200, { access_token: 'b', expires_in: 20 }],
  );
  vi.useFakeTimers({ toFake: ['performance'] });
  expect(await tokens.token()).toEqual(given('a'));
  vi.advanceTimersByTime(20_000 - REAUTHENTICATION_MS);
  expect(await tokens.token()).toEqual(given('b'));
});

it.each([
  [401, 'stop'],
  [503, 'retry'],
  [429, 'retry'],
])('after %i the verdict is: %s', async (status, expected) => {
  const description = { error_description: 'not\ntoday', error: { code: 7 } };
  const tokens = await tokensFrom([status, description]);
  const failure = await tokens.token().catch((error: Error) => error);
  expect(verdict(failure)).toBe(expected);
  expect(failure).toMatchObject({ retriable: expected === 'retry' });
  expect((failure as Error).message).toContain(`${status}: not today (see KAFKA_SASL_`);
});

it('a refusal is told, and not kept', async () => {
  const tokens = await tokensFrom(
    [401, { error: 'invalid_client' }],
    [200, {}],
    [200, { access_token: 'a' }],
  );
  await expect(tokens.token()).rejects.toThrow(/no token from .*: 401: invalid_client/);
  await expect(tokens.token()).rejects.toThrow('the answer has no access_token');
  expect(await tokens.token()).toEqual(given('a'));
});
