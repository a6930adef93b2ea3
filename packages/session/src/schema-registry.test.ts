/** A registry that answers, refuses, is silent or is none: a small server plays each. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readSettings } from '@freshet/config';
import { openLog } from '@freshet/telemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SchemaRegistry, schemaRegistry } from './schema-registry.ts';

type Answer = readonly [status: number, body: unknown] | 'silence';

let server: Server;
let url: string;
let answers: Record<string, Answer>;
let asked: { path: string; authorization: string | undefined }[];
let told: string[];

const log = openLog('test', 'info', {
  write: (line: string) => void told.push(JSON.parse(line).msg),
});

beforeEach(async () => {
  [answers, asked, told] = [{}, [], []];
  server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push({ path, authorization: request.headers.authorization });
    const answer = answers[path] ?? [404, { error_code: 40_403, message: 'Schema not found' }];
    if (answer === 'silence') return;
    const [status, body] = answer;
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function open(settings: Record<string, string> = {}, sources = ['shop']) {
  const given = { SCHEMA_REGISTRY_URL: url, SCHEMA_REGISTRY_TIMEOUT_MS: '60000', ...settings };
  const registry = schemaRegistry(readSettings(given), sources, log);
  if (registry === undefined) throw new Error('there is a URL, and no registry');
  return registry;
}

function has(id: number, subject = 'shop-value', more: object = {}): void {
  const schema = JSON.stringify({ type: 'record', name: 'Rated', fields: [] });
  answers[`/api/schemas/ids/${id}`] = [200, { schema, ...more }];
  answers[`/api/schemas/ids/${id}/versions?deleted=true`] = [200, [{ subject, version: 1 }]];
}

const of = async (registry: SchemaRegistry, id: number) =>
  (await registry.lookUp(new Set([id]))).get(id);

describe('a schema registry', () => {
  it('is asked once for each id, also by several partitions at once', async () => {
    has(7);
    const registry = open();
    const found = await Promise.all([of(registry, 7), of(registry, 7)]);
    expect(found.map((schema) => schema?.kind)).toEqual(['avro', 'avro']);
    await of(registry, 7);
    expect(asked.map(({ path }) => path)).toEqual([
      '/api/schemas/ids/7',
      '/api/schemas/ids/7/versions?deleted=true',
    ]);
  });

  it('is asked for several ids at once, so that made-up ones hold nobody up for long', async () => {
    const open: (() => void)[] = [];
    const client = {
      schema: () => new Promise<undefined>((resolve) => open.push(() => resolve(undefined))),
      subjects: async () => [],
      version: async () => undefined,
    };
    const registry = new SchemaRegistry({ client, subjects: ['*'], log });
    const found = registry.lookUp(new Set(Array.from({ length: 40 }, (_, id) => id)));
    for (const expected of [16, 16, 8]) {
      expect(open).toHaveLength(expected);
      for (const answer of open.splice(0)) answer();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await found).size).toBe(40);
  });

  it('is not asked for what no registry has', async () => {
    expect(await of(open(), -5)).toMatchObject({ kind: 'unusable' });
    expect(asked).toEqual([]);
  });

  it('is asked again after a while for what it did not have', async () => {
    let now = 0;
    const schema = JSON.stringify({ type: 'record', name: 'Rated', fields: [] });
    let sent: { schema: string } | undefined;
    const client = {
      schema: async () => sent,
      subjects: async () => ['shop-value'],
      version: async () => undefined,
    };
    const registry = new SchemaRegistry({ client, subjects: ['*'], log, now: () => now });
    const missing = { kind: 'unusable', why: 'the schema registry does not have it' };
    expect(await of(registry, 7)).toEqual(missing);
    sent = { schema };
    expect(await of(registry, 7)).toEqual(missing);
    now = 10_000;
    expect(await of(registry, 7)).toMatchObject({ kind: 'avro' });
  });

  it('forgets the schema that was not used for the longest time, at 1,000', async () => {
    const client = {
      schema: async (id: number) => {
        asked.push({ path: String(id), authorization: undefined });
        return { schema: '{}', schemaType: 'JSON' };
      },
      subjects: async () => ['shop-value'],
      version: async () => undefined,
    };
    const registry = new SchemaRegistry({ client, subjects: ['*'], log });
    for (let id = 0; id < 1_000; id++) await of(registry, id);
    await of(registry, 0);
    await of(registry, 1_000);
    const before = asked.length;
    await of(registry, 0);
    expect(asked).toHaveLength(before);
    await of(registry, 1);
    expect(asked).toHaveLength(before + 1);
  });

  it('allows the subjects of the topics, or those that match the setting', async () => {
    has(7, 'com.shop.Rated');
    expect(await of(open(), 7)).toEqual({
      kind: 'unusable',
      why:
        'it belongs to the subject com.shop.Rated, ' +
        'and SCHEMA_REGISTRY_SUBJECTS allows shop-value',
    });
    const wider = open({ SCHEMA_REGISTRY_SUBJECTS: 'other,com.shop.*' });
    expect(await of(wider, 7)).toMatchObject({ kind: 'avro' });
    expect(await of(open({ SCHEMA_REGISTRY_SUBJECTS: 'com.*.Wage' }), 7)).toMatchObject({
      kind: 'unusable',
    });
  });

  it('is asked with a password or with a token', async () => {
    has(7);
    const SCHEMA_REGISTRY_USERNAME = 'ada';
    await of(open({ SCHEMA_REGISTRY_USERNAME, SCHEMA_REGISTRY_PASSWORD: 'hush' }), 7);
    expect(asked.at(-1)?.authorization).toBe(`Basic ${btoa('ada:hush')}`);
    await of(open({ SCHEMA_REGISTRY_TOKEN: 'abc' }), 7);
    expect(asked.at(-1)?.authorization).toBe('Bearer abc');
  });

  it('may have schemas that cannot be used, and says why', async () => {
    has(1, 'shop-value', { schemaType: 'PROTOBUF', schema: 'message A {}' });
    has(2, 'shop-value', { schema: '"string"' });
    has(3, 'shop-value', { schema: '{' });
    has(4, 'shop-value', { references: [{ subject: 'a', version: 1 }] });
    has(5, 'shop-value', { references: [{ subject: 'b', version: 1 }] });
    const itself = { schema: '{}', references: [{ subject: 'b', version: 1 }] };
    answers['/api/subjects/b/versions/1'] = [200, itself];
    const registry = open();
    const found = await registry.lookUp(new Set([1, 2, 3, 4, 5]));
    const why = [...found.values()].map((schema) => (schema.kind === 'unusable' ? schema.why : ''));
    expect(why[0]).toBe('it is of the type PROTOBUF: only AVRO and JSON are read');
    expect(why[1]).toBe('its Avro schema cannot be used: it is not a record');
    expect(why[2]).toMatch(/^its Avro schema cannot be used: .*JSON/);
    expect(why[3]).toBe('it refers to a version 1, which the schema registry does not have');
    expect(why[4]).toBe('it refers to b version 1, which refers to itself');
  });
});

describe('a registry that does not answer as a registry', () => {
  it('is away, and never a reason to park a record', async () => {
    const cases: [Answer, RegExp][] = [
      [[401, ''], /answered 401 .*\(check SCHEMA_REGISTRY_USERNAME and/],
      [[403, { error_code: 40_301 }], /answered 403 .*SCHEMA_REGISTRY_TOKEN\)$/],
      [[429, ''], /answered 429 to GET \/schemas\/ids\/7$/],
      [[503, 'try later'], /answered 503 to GET \/schemas\/ids\/7$/],
      [[302, ''], /answered 302 .*\(check SCHEMA_REGISTRY_URL\)$/],
      [[404, '<html>'], /answered 404 .*\(check SCHEMA_REGISTRY_URL\)$/],
      [[404, { error_code: 404 }], /answered 404 .*\(check SCHEMA_REGISTRY_URL\)$/],
      [[200, '<html>'], /answered 200 .*\(check SCHEMA_REGISTRY_URL\)$/],
      [[200, 'x'.repeat(5 << 20)], /more than 4194304 bytes/],
      ['silence', /did not answer within 100 ms/],
    ];
    for (const [answer, message] of cases) {
      answers['/api/schemas/ids/7'] = answer;
      // Only silence is waited for: a busy machine may take longer than that for an answer.
      const registry = open(answer === 'silence' ? { SCHEMA_REGISTRY_TIMEOUT_MS: '100' } : {});
      await expect(of(registry, 7), String(message)).rejects.toMatchObject({
        name: 'ServerAway',
        verdict: 'retry',
        message: expect.stringMatching(message),
      });
    }
  });

  it('makes records wait, which is told once, until it answers', async () => {
    answers['/api/schemas/ids/7'] = [500, ''];
    const registry = open();
    let attempts = 0;
    const found = registry.awaitAll(new Set([7]), async () => {
      expect(registry.waitingFor).toMatch(/^the schema registry .* answered 500/);
      if (++attempts === 3) has(7);
    });
    expect((await found).get(7)).toMatchObject({ kind: 'avro' });
    expect(registry.waitingFor).toBeNull();
    expect(told).toEqual([
      expect.stringMatching(/answered 500 .*Ratings with a schema id wait until it answers$/),
      'ratings no longer wait for the schema registry',
    ]);
  });

  it('is not waited for by a partition that was revoked', async () => {
    answers['/api/schemas/ids/7'] = [500, ''];
    const registry = open();
    const revoked = registry.awaitAll(new Set([7]), async () => {
      throw new Error('revoked');
    });
    await expect(revoked).rejects.toThrow('revoked');
    expect(registry.waitingFor).toBeNull();
  });
});
