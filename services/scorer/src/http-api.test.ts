import { readSettings } from '@freshet/config';
import { exposeMetrics, registry, ServerAway } from '@freshet/telemetry';
import { eventually } from '@freshet/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { limitsOf } from './answer-schemas.ts';
import { httpApi } from './http-api.ts';
import { kindOf } from './request-metrics.ts';

type Options = Parameters<typeof httpApi>[0];
let api: ReturnType<typeof httpApi> | undefined;

const answering: Options['recommender'] = {
  answerKept: () => false,
  async recommendInJson(user: string, n: number): Promise<string> {
    if (user === 'trouble') throw new Error('the password is hunter2');
    if (user === 'outage') throw new ServerAway('Redis at 10.0.0.1 is away');
    return JSON.stringify({ user, items: [{ item: `n=${n}`, score: 1 }], model, fallback: null });
  },
};
const model = { name: 'm', position: 7 };
const lines: string[] = [];
const writing = (as: string) => (told: object, message: string) => {
  lines.push(JSON.stringify({ as, ...told, message }));
};
const log = { warn: writing('warn'), error: writing('error') };

interface Asking extends Partial<Options> {
  authorization?: string;
  requestId?: string;
  traceparent?: string;
  host?: string;
}

async function get(path: string, options: Asking = {}) {
  const { authorization, requestId, traceparent, host, ...rest } = options;
  const open = { recommender: answering, token: '', waitingFor: () => null };
  api = httpApi({ ...open, limits: limitsOf(readSettings({})), log, ...rest });
  const headers = {
    ...(authorization === undefined ? {} : { authorization }),
    ...(host === undefined ? {} : { host }),
    ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  return api.inject({ method: 'GET', url: path, headers });
}

afterEach(() => api?.close());

function expectProblem(
  response: Awaited<ReturnType<typeof get>>,
  status: number,
  detail = '',
): void {
  expect(response.statusCode).toBe(status);
  expect(response.headers['content-type']).toContain('application/problem+json');
  expect(response.json()).toMatchObject({ type: 'about:blank', status });
  expect(response.json().title).toBeTypeOf('string');
  expect(response.json().detail).toContain(detail);
}

const PATH = '/v1/recommendations';

describe('GET /v1/recommendations/{user}', () => {
  it('answers ten items unless asked for another number', async () => {
    const response = await get(`${PATH}/ada`);
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.json()).toEqual({
      user: 'ada',
      items: [{ item: 'n=10', score: 1 }],
      model,
      fallback: null,
    });
    expect((await get(`${PATH}/ada?n=3`)).json().items[0].item).toBe('n=3');
  });

  it('takes any id that a rating may have, percent-encoded', async () => {
    const ids = [
      '🎬',
      'a b',
      'a/b',
      '%',
      '\0',

      '__proto__',
      'x'.repeat(256),
      '🎬'.repeat(64),
    ];
    for (const id of ids) {
      const response = await get(`${PATH}/${encodeURIComponent(id)}`);
      expect(response.statusCode, id).toBe(200);
      expect(response.json().user).toBe(id);
    }
  });

  it('refuses a number of items that makes no sense', async () => {
    for (const n of ['0', '-1', '1001', '1e9', '2.5', 'many', '', '3&n=4']) {
      expectProblem(await get(`${PATH}/ada?n=${n}`), 400);
    }
  });

  it('refuses ids longer than 256 bytes, however long', async () => {
    for (const id of ['x'.repeat(257), `${'🎬'.repeat(64)}a`, 'x'.repeat(5_000)]) {
      expectProblem(await get(`${PATH}/${encodeURIComponent(id)}`), 400, '256 bytes');
    }
  });

  it('refuses bytes that are not UTF-8, and an empty id', async () => {
    for (const id of ['%ED%A0%80', '%FF', '%', '%zz']) {
      expectProblem(await get(`${PATH}/${id}`), 400);
    }
    expectProblem(await get(`${PATH}/`), 400);
  });
});

describe('the API', () => {
  it('is 404 for what is not there', async () => {
    for (const path of ['/', '/v1', PATH, `${PATH}/a/b`, '/metrics']) {
      expectProblem(await get(path), 404);
    }
  });

  it('is 503 while it waits, says for what, and when to ask again', async () => {
    const waitingFor = () => 'the item vectors';
    const response = await get(`${PATH}/ada`, { waitingFor });
    expectProblem(response, 503, 'the item vectors');
    expect(response.headers['retry-after']).toBe('1');
  });

  it('is 500 when something breaks, without telling what', async () => {
    const response = await get(`${PATH}/trouble`);
    expectProblem(response, 500);
    expect(response.body).not.toContain('hunter2');
  });
});

describe('a server that is away', () => {
  it('is told as 503 with when to ask again, and not by its address', async () => {
    const response = await get(`${PATH}/outage`);
    expectProblem(response, 503, 'a server that Freshet needs is away: try again');
    expect(response.headers['retry-after']).toBe('1');
    expect(response.body).not.toContain('10.0.0.1');
  });

  it('is a warning in the log, under the id of the request: it is no bug', async () => {
    lines.length = 0;
    const { headers } = await get(`${PATH}/outage`);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { as: 'warn', requestId: headers['x-request-id'], error: { type: 'ServerAway' } },
    ]);
  });
});

describe('every answer', () => {
  it('tells a browser to run, show, keep and pass on nothing of it', async () => {
    const token = 's3cret';
    const answers = [
      [200, await get(`${PATH}/ada`)],
      [200, await get('/openapi.json')],
      [400, await get(`${PATH}/ada?n=0`)],
      [400, await get(`${PATH}/%zz`)],
      [401, await get(`${PATH}/ada`, { token })],
      [404, await get('/nothing')],
      [421, await get(`${PATH}/ada`, { host: 'rebound.example' })],
      [500, await get(`${PATH}/trouble`)],
      [503, await get(`${PATH}/outage`)],
      [503, await get(`${PATH}/ada`, { waitingFor: () => 'x' })],
    ] as const;
    for (const [status, { statusCode, headers }] of answers) {
      expect(statusCode).toBe(status);
      expect(headers, String(status)).toMatchObject({
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'cross-origin-resource-policy': 'same-origin',
      });
    }
  });
});

describe('the token', () => {
  const token = 's3cret';

  it('lets in who has it', async () => {
    for (const authorization of ['Bearer s3cret', 'bearer s3cret']) {
      expect((await get(`${PATH}/ada`, { token, authorization })).statusCode).toBe(200);
    }
  });

  it('keeps everybody else out, of paths that do not exist too', async () => {
    const wrong = ['Bearer wrong', 'Bearer ', 'Bearer', 'Basic s3cret', 's3cret', 'Bearer s3cret '];
    for (const authorization of wrong) {
      const response = await get(`${PATH}/ada`, { token, authorization });
      expectProblem(response, 401);
      expect(response.headers['www-authenticate']).toBe('Bearer');
    }
    expectProblem(await get(`${PATH}/ada`, { token }), 401);
    expectProblem(await get('/nothing', { token }), 401);
  });

  it('opens the API to any name of this machine', async () => {
    const asking = { token, authorization: 'Bearer s3cret', host: 'scorer.example:8080' };
    expect((await get(`${PATH}/ada`, asking)).statusCode).toBe(200);
  });

  it('is looked at later and later where an address guesses, and others do not notice', async () => {
    const timers: (() => void)[] = [];
    const clock = { now: () => 0, after: (_: number, then: () => void) => void timers.push(then) };
    await get('/', { token, clock });
    const ask = (given: string, remoteAddress: string) =>
      api?.inject({
        url: `${PATH}/ada`,
        headers: { authorization: `Bearer ${given}` },
        remoteAddress,
      });
    for (let nth = 0; nth < 5; nth++) {
      expect((await ask('wrong', '192.0.2.1'))?.statusCode).toBe(401);
    }
    const waiting = Array.from({ length: 8 }, () => ask('wrong', '192.0.2.1'));
    // inject does nothing until it is waited for.
    const answers = Promise.all(waiting.map(async (each) => (await each)?.statusCode));
    await eventually('eight that wait', async () => timers.length === 8);
    const ninth = await ask('s3cret', '192.0.2.1');
    expect([ninth?.statusCode, ninth?.headers['retry-after']]).toEqual([429, '1']);
    expect(ninth?.headers['content-type']).toContain('application/problem+json');
    expect((await ask('s3cret', '192.0.2.2'))?.statusCode).toBe(200);
    for (const then of timers) then();
    expect(await answers).toEqual(Array(8).fill(401));
  });

  it('is asked for before anything about the service is told', async () => {
    expectProblem(await get(`${PATH}/ada`, { token, waitingFor: () => 'x' }), 401);
  });
});

describe('the id of a request', () => {
  it('is the one its sender gave it, and is returned', async () => {
    for (const requestId of ['7', '4bf92f35-77b3-4da6', 'edge.1:span_2', 'x'.repeat(64)]) {
      const response = await get(`${PATH}/ada`, { requestId });
      expect(response.headers['x-request-id']).toBe(requestId);
    }
  });

  it('is our own where that is not fit to be written', async () => {
    for (const requestId of ['', 'a b', 'x'.repeat(65), '{"user":1}', 'é']) {
      const response = await get(`${PATH}/trouble`, { requestId });
      expect(response.headers['x-request-id']).toMatch(/^[0-9a-f]{8}-\w+$/);
      expect(response.headers['x-request-id']).not.toBe(requestId);
    }
  });

  it('leads from a failed answer to its line in the log', async () => {
    lines.length = 0;
    const { headers } = await get(`${PATH}/trouble?exclude=secret-item`);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      requestId: headers['x-request-id'],
      route: 'GET /v1/recommendations/:user',
      message: 'request failed',
    });
  });
});

describe('the trace of a request', () => {
  const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

  it('is in its answer, and in the log if it fails', async () => {
    const { headers } = await get(`${PATH}/ada`, { traceparent: TRACE });
    expect(headers.traceparent).toBe(TRACE);
    lines.length = 0;
    await get(`${PATH}/trouble`, { traceparent: TRACE });
    expect(JSON.parse(lines[0] ?? '').trace).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
  });

  it('is none if the client sent something else', async () => {
    const { headers } = await get(`${PATH}/ada`, { traceparent: `${TRACE}-more` });
    expect(headers).not.toHaveProperty('traceparent');
  });
});

describe('the log', () => {
  it('has no line for what was answered or refused', async () => {
    lines.length = 0;
    await get(`${PATH}/ada`);
    await get(`${PATH}/ada?n=0`);
    await get('/nowhere');
    await get(`${PATH}/ada`, { token: 's3cret', authorization: 'Bearer wrong' });
    expect(lines).toEqual([]);
  });

  it('names neither user nor item nor token, nor what a client hung on its error', async () => {
    lines.length = 0;
    const failing = async () => {
      throw Object.assign(new Error('the store is away'), { command: { args: ['row:eve'] } });
    };
    const authorization = 'Bearer s3cret';
    const options = {
      recommender: { ...answering, recommendInJson: failing },
      token: 's3cret',
      authorization,
    };
    expectProblem(await get(`${PATH}/eve?exclude=item-of-eve`, options), 500);
    expect(lines.join()).toContain('the store is away');
    expect(lines.join()).not.toMatch(/eve|s3cret/);
  });
});

describe('requests', () => {
  it('are counted by kind and outcome, with the length of the answer', async () => {
    exposeMetrics('scorer');
    const { body } = await get(`${PATH}/ada`);
    await get(`${PATH}/ada?n=0`);
    await get(`${PATH}/trouble`);
    await get('/v1/nowhere');
    const text = await registry.metrics();
    const count = (kind: string, outcome: string) => {
      const labels = `transport="http",kind="${kind}",outcome="${outcome}"`;
      return Number(text.split(`duration_seconds_count{${labels}} `)[1]?.split('\n')[0]);
    };
    expect([count('recommend', 'ok'), count('recommend', 'refused')]).toEqual([1, 1]);
    expect([count('recommend', 'failed'), count('other', 'refused')]).toEqual([1, 1]);
    expect(count('insight', 'refused')).toBe(0);
    expect(text).toContain('freshet_answer_bytes_count{transport="http"} 4');
    expect(text).toContain(`freshet_answer_bytes_bucket{le="256",transport="http"} 4`);
    expect(body.length).toBeLessThan(256);
  });

  it('are of the kind that their path begins with', () => {
    expect(kindOf('GET', '/v1/recommendations/u')).toBe('recommend');
    expect(kindOf('POST', '/v1/recommendations/batch')).toBe('recommend');
    expect(kindOf('GET', '/v1/items/popular')).toBe('insight');
    expect(kindOf('GET', '/v1/users/u')).toBe('insight');
    expect(kindOf('DELETE', '/v1/users/u')).toBe('rate');
    expect(kindOf('DELETE', '/v1/ratings/u/i')).toBe('rate');
    expect(kindOf('POST', '/v1/ratings')).toBe('rate');
    expect(kindOf('GET', '/openapi.json')).toBe('other');
  });
});
