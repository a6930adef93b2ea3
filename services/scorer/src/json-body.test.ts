import fastify from 'fastify';
import { expect, it } from 'vitest';
import { readJsonBodies } from './json-body.ts';

/** The status, and the body as the route gets it. */
async function read(payload: string | Buffer, type: string, method: 'POST' | 'DELETE' = 'POST') {
  const api = fastify();
  readJsonBodies(api);
  const url = '/';
  api.route({ method: ['POST', 'DELETE'], url, handler: async ({ body }) => ({ body }) });
  const answer = await api.inject({ method, url, payload, headers: { 'content-type': type } });
  await api.close();
  return { status: answer.statusCode, ...answer.json() };
}

it('reads JSON in UTF-8, whatever is said of its characters, with a mark of their order or none', async () => {
  const body = { user: 'Müller 🎬' };
  for (const type of ['application/json', 'Application/JSON; charset=utf-8']) {
    for (const mark of ['', '\ufeff']) {
      expect(await read(mark + JSON.stringify(body), type)).toEqual({ status: 200, body });
    }
  }
});

it('refuses other characters: Müller and Möller would become one', async () => {
  for (const type of ['application/json', 'application/json; charset=iso-8859-1']) {
    const latin = Buffer.from('{"user":"Müller"}', 'latin1');
    expect(await read(latin, type)).toMatchObject({
      status: 400,
      message: expect.stringContaining('UTF-8'),
    });
  }
});

it('takes an empty body for none, as clients send it with DELETE', async () => {
  expect(await read('', 'application/json', 'DELETE')).toEqual({ status: 200 });
});

it('refuses what is no JSON, or not called so', async () => {
  expect(await read('{', 'application/json')).toMatchObject({ status: 400 });
  expect(await read('{"__proto__":{}}', 'application/json')).toMatchObject({ status: 400 });
  expect(await read('{}', 'text/plain')).toMatchObject({ status: 415 });
});
