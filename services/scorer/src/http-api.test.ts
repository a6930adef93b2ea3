import type { Recommendation } from '@freshet/events';
import { afterEach, describe, expect, it } from 'vitest';
import { httpApi } from './http-api.ts';

type Options = Parameters<typeof httpApi>[0];
let api: ReturnType<typeof httpApi> | undefined;

const answering: Options['recommender'] = {
  async recommend(user: string, n: number): Promise<Recommendation> {
    if (user === 'trouble') throw new Error('the password is hunter2');
    return { user, items: [{ item: `n=${n}`, score: 1 }], model, fallback: null };
  },
};
const model = { name: 'm', position: 7 };

async function get(path: string, options: Partial<Options> & { authorization?: string } = {}) {
  const { authorization, ...rest } = options;
  api = httpApi({ recommender: answering, token: '', waitingFor: () => null, ...rest });
  const headers = authorization === undefined ? {} : { authorization };
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

  it('is asked for before anything about the service is told', async () => {
    expectProblem(await get(`${PATH}/ada`, { token, waitingFor: () => 'x' }), 401);
  });
});
