/**
 * Ratings whose schemas are in a registry: a real one, behind a gate that asks for TLS and a
 * password, as companies run it. What is wrong with a record parks it; what is wrong with the
 * registry only delays it.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serviceNames, stepsTo } from '@freshet/local';
import { eventually, System, violationsOf } from '@freshet/testkit';
import avro from 'avsc';
import { Kafka, type Producer } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RegistryServer, registryProgram } from '../registry/registry-server.ts';

const EVENTS = 'shop-events';
const CLICKS = 'shop-clicks';
const CALLS = 'shop-calls';
const subject = `${EVENTS}-value`;
const folder = mkdtempSync(join(tmpdir(), 'freshet-registry-'));
let registry: RegistryServer;
let gate: Server;
/** What the gate answers instead of asking the registry. */
let refusal: number | undefined;
let system: System;
let producer: Producer;
const expected = new Set<string>();

const record = (name: string, fields: object[]) => ({
  type: 'record',
  name,
  namespace: 'shop',
  fields,
});
const first = record('Rated', [
  { name: 'user_id', type: 'string' },
  { name: 'sku', type: 'string' },
  { name: 'stars', type: 'double' },
]);
const device = { name: 'device', type: ['null', 'string'], default: null };
const second = { ...first, fields: [device, ...first.fields] };

function openGate(): Promise<void> {
  const certificate = { keyout: join(folder, 'gate.key'), out: join(folder, 'gate.pem') };
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=gate'],
      ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', certificate.keyout],
      ...['-out', certificate.out],
    ],
    { stdio: 'pipe' },
  );
  const tls = { key: readFileSync(certificate.keyout), cert: readFileSync(certificate.out) };
  gate = createServer(tls, (asked, answer) => {
    const given = Buffer.from(asked.headers.authorization?.split(' ')[1] ?? '', 'base64');
    const status = given.toString() === 'freshet:hush' ? refusal : 401;
    if (status !== undefined) return void answer.writeHead(status).end('not today');
    const passedOn = request(`${registry.url}${asked.url}`, (found) => {
      answer.writeHead(found.statusCode ?? 500);
      found.pipe(answer);
    });
    passedOn.on('error', () => answer.destroy()).end();
  });
  return new Promise((resolve) => gate.listen(0, '127.0.0.1', resolve));
}

/** As Confluent's serializers write: a zero byte, the id of the schema, the record. */
function framed(id: number, body: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.writeInt32BE(id, 1);
  return Buffer.concat([header, body]);
}

function encoded(id: number, schema: object, event: object): Buffer {
  return framed(id, avro.Type.forSchema(schema as avro.Schema).toBuffer(event));
}

const send = (topic: string, ...values: Buffer[]) =>
  producer.send({ topic, messages: values.map((value) => ({ value })) });

const rated = (user_id: string, sku: string, stars: number) => {
  expected.add(`${user_id} ${sku} ${stars}`);
  return { user_id, sku, stars };
};

const logLines = () =>
  readFileSync(system.child('updater').logFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '');

beforeAll(async () => {
  await openGate();
  const settings = {
    RATINGS_TOPICS: `${EVENTS},${CLICKS},${CALLS}`,
    SCHEMA_REGISTRY_URL: `https://127.0.0.1:${(gate.address() as AddressInfo).port}/`,
    SCHEMA_REGISTRY_USERNAME: 'freshet',
    SCHEMA_REGISTRY_PASSWORD: 'hush',
    SCHEMA_REGISTRY_CA_LOCATION: join(folder, 'gate.pem'),
    SCHEMA_REGISTRY_TIMEOUT_MS: '500',
  };
  const program = await registryProgram(stepsTo(() => {}));
  [system, registry] = await Promise.all([
    System.open(settings),
    RegistryServer.start(program, folder),
  ]);
  const kafka = new Kafka({ brokers: [system.brokers], logLevel: 0 });
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [EVENTS, CLICKS, CALLS].map((topic) => ({ topic })) });
  await admin.disconnect();
  producer = kafka.producer();
  await producer.connect();
  for (const name of serviceNames) system.launch(name);
});

afterAll(async () => {
  await producer?.disconnect();
  await system?.close();
  await registry?.child.stop();
  gate?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('ratings whose schemas are in a registry', () => {
  it('count in each version of an Avro schema, with schemas that it refers to', async () => {
    const ids = [
      await registry.register({ subject, schema: first }),
      await registry.register({ subject, schema: second }),
    ] as const;
    const phone = record('Phone', [{ name: 'model', type: 'string' }]);
    const context = (type: unknown) => record('Context', [{ name: 'phone', type }]);
    const linked = (type: unknown) => ({
      ...first,
      fields: [{ name: 'context', type }, ...first.fields],
    });
    const reference = (name: string) => [{ name: `shop.${name}`, subject: name, version: 1 }];
    await registry.register({ subject: 'Phone', schema: phone });
    await registry.register({
      subject: 'Context',
      schema: context('shop.Phone'),
      references: reference('Phone'),
    });
    const linkedId = await registry.register({
      subject,
      schema: linked('shop.Context'),
      references: reference('Context'),
    });
    const whole = linked(context(phone));
    await send(
      EVENTS,
      encoded(ids[0], first, rated('ann', 'tea', 5)),
      encoded(ids[1], second, { device: 'phone', ...rated('bob', 'tea', 2) }),
      encoded(linkedId, whole, { context: { phone: { model: 'x' } }, ...rated('kim', 'cup', 3) }),
      Buffer.from(JSON.stringify(rated('zoe', 'tea', 1))),
    );
    for (const name of serviceNames) await system.ready(name);
    expect(violationsOf(await system.snapshot(), expected)).toEqual([]);
  });

  it('count as JSON', async () => {
    const schema = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' };
    const clicks = `${CLICKS}-value`;
    const id = await registry.register({ subject: clicks, schemaType: 'JSON', schema });
    await send(CLICKS, framed(id, Buffer.from(JSON.stringify(rated('eve', 'cup', 4)))));
    expect(violationsOf(await system.snapshot(), expected)).toEqual([]);
  });

  it('are parked if their schema is unknown, not allowed, or of a type that is not read', async () => {
    const strange = await registry.register({ subject: 'wages-value', schema: record('Wage', []) });
    const proto = 'syntax = "proto3"; message Rated { string user = 1; }';
    const calls = `${CALLS}-value`;
    const unread = await registry.register({
      subject: calls,
      schemaType: 'PROTOBUF',
      schema: proto,
    });
    await send(EVENTS, framed(999_999, Buffer.from('?')), framed(strange, Buffer.alloc(0)));
    await send(CALLS, framed(unread, Buffer.from('?')));
    const letters = await eventually('three dead letters', async () => {
      const { out } = await system.freshet(['dead-letters', 'list', '--json']);
      const lines = out.trim().split('\n');
      return lines.length === 3 && lines.map((line) => JSON.parse(line));
    });
    const allowed = [EVENTS, CLICKS, CALLS].map((topic) => `${topic}-value`).join(', ');
    expect(letters.map(({ reason, message }) => `${reason}: ${message}`).sort()).toEqual(
      [
        'unknown-schema: schema id 999999: the schema registry does not have it',
        `unknown-schema: schema id ${strange}: it belongs to the subject wages-value, ` +
          `and SCHEMA_REGISTRY_SUBJECTS allows ${allowed}`,
        `unknown-schema: schema id ${unread}: it is of the type PROTOBUF: only AVRO and JSON are read`,
      ].sort(),
    );
  });

  it('wait while the registry refuses or is silent, are told of once, and then count', async () => {
    const told = () => logLines().filter((line) => line.includes('Ratings with a schema id wait'));
    const before = told().length;
    const third = { ...first, fields: [...first.fields, device] };
    const id = await registry.register({ subject, schema: third });
    refusal = 503;
    await send(EVENTS, encoded(id, third, { device: null, ...rated('pat', 'tea', 4) }));
    await eventually('/readyz to say why', async () =>
      /^the schema registry .*: it answered 503/.test((await system.waitsFor('updater')) ?? ''),
    );
    await eventually('some attempts', () =>
      system.metric('updater', 'freshet_server_away_seconds', { server: 'schema-registry' }),
    );
    expect(told()).toHaveLength(before + 1);
    registry.child.signal('SIGSTOP');
    refusal = undefined;
    await eventually('the silence to be told', async () => told().length === before + 2);
    expect(told().at(-1)).toContain('it did not answer within 500 ms');
    registry.child.signal('SIGCONT');
    expect(violationsOf(await system.snapshot(), expected)).toEqual([]);
    await system.ready('updater');
    const { out } = await system.freshet(['dead-letters', 'list']);
    expect(out).toContain('3 dead letters');
  });

  it('are tried by `freshet intake try`, which says what is wrong with the registry', async () => {
    const patient = { SCHEMA_REGISTRY_TIMEOUT_MS: '30000' };
    const tried = await system.freshet(['intake', 'try', EVENTS], patient);
    expect(tried.out).toContain('user "kim"  item "cup"  value 3');
    expect(tried.out).toContain('5 of 7 records would count');
    const wrong = await system.freshet(['intake', 'try', EVENTS], {
      ...patient,
      SCHEMA_REGISTRY_PASSWORD: 'guessed',
    });
    expect(wrong.code).toBe(3);
    expect(wrong.err).toMatch(
      /^freshet intake: the schema registry \S+: it answered 401 to GET \S+ \(check SCHEMA_REGISTRY_USERNAME .*\)\n$/,
    );
    const untrusted = await system.freshet(['intake', 'try', EVENTS], {
      ...patient,
      SCHEMA_REGISTRY_CA_LOCATION: '',
    });
    // Node 24 adds advice of its own before ours.
    expect(untrusted.err).toMatch(
      /^.*certificate.* \(SCHEMA_REGISTRY_CA_LOCATION must name .*\)\n$/,
    );
  });
});
