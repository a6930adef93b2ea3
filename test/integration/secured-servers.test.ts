/**
 * Kafka and Redis as companies run them: TLS with an authority of their own, passwords, tokens.
 * What is right must connect, and what is wrong must be said in one clear line.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from '@freshet/config';
import { freePort, stepsTo } from '@freshet/local';
import { ClosingStack } from '@freshet/service';
import { openBrokers } from '@freshet/session';
import { RedisStore, shardIds } from '@freshet/store';
import { openLog } from '@freshet/telemetry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startKafka } from '../../packages/local/src/kafka-server.ts';
import { kafkaJars } from '../../packages/local/src/provision.ts';
import { startRedis } from '../../packages/local/src/redis-server.ts';
import { makeAuthority, makeCertificates, startSecureCluster } from '../deploy/secured.ts';

const MODEL = 'films';
let nodes: number[] = [];
const log = openLog('test', 'error');
const folder = mkdtempSync(join(tmpdir(), 'freshet-secured-'));
const file = (name: string) => join(folder, name);
const stack = new ClosingStack();
const ports = { plain: 0, sasl: 0, mutual: 0, inner: 0, controller: 0, redis: 0 };
let tokenServer: Server;
let tokenUrl = '';

const read = (name: string) => readFileSync(file(name), 'utf8');

function kafkaProperties(): Record<string, string> {
  const { plain, sasl, mutual, inner } = ports;
  const module = 'org.apache.kafka.common.security';
  const ofSasl = (mechanism: string) => `listener.name.sasl_ssl.${mechanism}.sasl.jaas.config`;
  const listeners = `PLAINTEXT://127.0.0.1:${plain},SASL_SSL://127.0.0.1:${sasl},SSL://127.0.0.1:${mutual}`;
  return {
    listeners: `${listeners},INNER://127.0.0.1:${inner},CONTROLLER://127.0.0.1:${ports.controller}`,
    'advertised.listeners': `${listeners},INNER://inner.invalid:9092`,
    'listener.security.protocol.map':
      'PLAINTEXT:PLAINTEXT,INNER:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': file('keystore.pem'),
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': file('authority.pem'),
    'listener.name.ssl.ssl.client.auth': 'required',
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
    [ofSasl('plain')]: `${module}.plain.PlainLoginModule required user_ada="plain-secret";`,
    [ofSasl('scram-sha-256')]: `${module}.scram.ScramLoginModule required;`,
    [ofSasl('scram-sha-512')]: `${module}.scram.ScramLoginModule required;`,
    [ofSasl('oauthbearer')]:
      `${module}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
  };
}

/** Gives tokens that a broker in its default configuration believes: without a signature. */
function startTokenServer(): Promise<void> {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const identity = { cert: read('server.pem'), key: read('server.key') };
  tokenServer = createServer(identity, (request, response) => {
    const given = Buffer.from(request.headers.authorization?.split(' ')[1] ?? '', 'base64');
    const [client = '', secret] = given.toString().split(':');
    if (secret !== 'hush') {
      response.writeHead(401).end(JSON.stringify({ error: 'invalid_client' }));
      return;
    }
    const now = Math.floor(Date.now() / 1_000);
    const exp = client === 'late' ? now - 300 : now + 300;
    const token = `${part({ alg: 'none' })}.${part({ sub: 'freshet', iat: now - 600, exp })}.`;
    response.end(JSON.stringify({ access_token: token, expires_in: 300 }));
  });
  return new Promise((resolve) => {
    tokenServer.listen(0, '127.0.0.1', () => {
      tokenUrl = `https://127.0.0.1:${(tokenServer.address() as AddressInfo).port}/token`;
      resolve();
    });
  });
}

beforeAll(async () => {
  makeCertificates(folder, {
    server: 'IP:127.0.0.1',
    node: 'DNS:localhost',
    client: 'DNS:client',
  });
  makeAuthority(folder, 'stranger');
  writeFileSync(file('keystore.pem'), `${read('server.key')}${read('server.pem')}`);
  await startTokenServer();
  for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await freePort();
  const scram = [256, 512].flatMap((bits) => [
    '--add-scram',
    `SCRAM-SHA-${bits}=[name=ada,password=scram-secret]`,
  ]);
  const kafka = await startKafka({
    jars: await kafkaJars(stepsTo(() => {})),
    folder,
    port: ports.plain,
    controllerPort: ports.controller,
    properties: kafkaProperties(),
    formatArguments: scram,
  });
  stack.own({ close: () => kafka.stop() });
  writeFileSync(file('users.acl'), 'user default off\nuser freshet on >redis-secret ~* &* +@all\n');
  const redis = await startRedis({
    folder,
    port: ports.redis,
    settings: {
      port: '0',
      'tls-port': String(ports.redis),
      'tls-cert-file': file('server.pem'),
      'tls-key-file': file('server.key'),
      'tls-ca-cert-file': file('authority.pem'),
      aclfile: file('users.acl'),
    },
  });
  stack.own({ close: () => redis.stop() });
});

afterAll(async () => {
  tokenServer?.close();
  await stack.close();
  rmSync(folder, { recursive: true });
});

const secure = () => ({
  KAFKA_BROKERS: `127.0.0.1:${ports.sasl}`,
  KAFKA_SECURITY_PROTOCOL: 'SASL_SSL',
  KAFKA_SSL_CA_LOCATION: file('authority.pem'),
});
const unsecured = { KAFKA_SECURITY_PROTOCOL: 'SASL_PLAINTEXT', KAFKA_SSL_CA_LOCATION: '' };
const plain = { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: 'ada' };
const tokens = () => ({
  KAFKA_SASL_MECHANISM: 'OAUTHBEARER',
  KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL: tokenUrl,
  KAFKA_SASL_OAUTHBEARER_CLIENT_ID: 'freshet',
  KAFKA_SASL_OAUTHBEARER_CA_LOCATION: file('authority.pem'),
  KAFKA_SASL_OAUTHBEARER_EXTENSIONS: 'logicalCluster=lkc-1,identityPoolId=pool-1',
});

/** Connects, asks and closes. */
async function connect(environment: Record<string, string>): Promise<void> {
  const own = new ClosingStack();
  try {
    const { admin } = await openBrokers('test', readSettings(environment), { log, stack: own });
    await admin.exists('ratings');
  } finally {
    await own.close();
  }
}

async function failureOf(environment: Record<string, string>): Promise<string> {
  const failure = await connect(environment).catch((error: Error) => error);
  expect(failure).toBeInstanceOf(Error);
  return (failure as Error).message;
}

describe('Kafka over TLS with SASL', () => {
  it.each([
    ['PLAIN', 'plain-secret'],
    ['SCRAM-SHA-256', 'scram-secret'],
    ['SCRAM-SHA-512', 'scram-secret'],
  ])('lets %s in', async (mechanism, password) => {
    const user = { KAFKA_SASL_USERNAME: 'ada', KAFKA_SASL_PASSWORD: password };
    await connect({ ...secure(), KAFKA_SASL_MECHANISM: mechanism, ...user });
  });

  it('lets tokens in that a token endpoint gives for client credentials', async () => {
    await connect({ ...secure(), ...tokens(), KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET: 'hush' });
  });

  it('lets a client certificate in where one is asked for', async () => {
    const mutual = {
      KAFKA_BROKERS: `127.0.0.1:${ports.mutual}`,
      KAFKA_SECURITY_PROTOCOL: 'SSL',
      KAFKA_SSL_CA_LOCATION: file('authority.pem'),
    };
    await connect({
      ...mutual,
      KAFKA_SSL_CERTIFICATE_LOCATION: file('client.pem'),
      KAFKA_SSL_KEY_LOCATION: file('client.key'),
    });
    expect(await failureOf(mutual)).toContain('KAFKA_SSL_CERTIFICATE_LOCATION');
    const foreign = {
      KAFKA_SSL_CERTIFICATE_LOCATION: file('stranger.pem'),
      KAFKA_SSL_KEY_LOCATION: file('stranger.key'),
    };
    expect(await failureOf({ ...mutual, ...foreign })).toContain('KAFKA_SSL_CERTIFICATE_LOCATION');
  });

  it('is found behind an address where something else closes connections', async () => {
    const stranger = createSocketServer((socket) => socket.end());
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    const { port } = stranger.address() as AddressInfo;
    const KAFKA_BROKERS = `127.0.0.1:${port},127.0.0.1:1,127.0.0.1:${ports.plain}`;
    await connect({ KAFKA_BROKERS }).finally(() => stranger.close());
    expect(await failureOf({ KAFKA_BROKERS: '[::1]:1' })).toMatch(/E[A-Z]+ ::1:1\b/);
  });

  it('says in one line what is wrong: password, authority, host name, protocol, secret', async () => {
    const wrong = { ...secure(), ...plain, KAFKA_SASL_PASSWORD: 'wrong' };
    const right = { ...wrong, KAFKA_SASL_PASSWORD: 'plain-secret' };
    const late = { ...tokens(), KAFKA_SASL_OAUTHBEARER_CLIENT_ID: 'late' };
    const failures = {
      password: await failureOf(wrong),
      mechanism: await failureOf({ ...right, KAFKA_SASL_MECHANISM: 'SCRAM-SHA-256' }),
      sasl: await failureOf({ ...right, KAFKA_BROKERS: `127.0.0.1:${ports.plain}`, ...unsecured }),
      token: await failureOf({
        ...secure(),
        ...late,
        KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET: 'hush',
      }),
      announced: await failureOf({ KAFKA_BROKERS: `127.0.0.1:${ports.inner}` }),
      authority: await failureOf({ ...right, KAFKA_SSL_CA_LOCATION: file('stranger.pem') }),
      name: await failureOf({ ...right, KAFKA_BROKERS: `localhost:${ports.sasl}` }),
      protocol: await failureOf({ KAFKA_BROKERS: `127.0.0.1:${ports.plain}`, KAFKA_TLS: 'true' }),
      transport: await failureOf({ KAFKA_BROKERS: `127.0.0.1:${ports.sasl}` }),
      secret: await failureOf({
        ...secure(),
        ...tokens(),
        KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET: 'guess',
      }),
      endpoint: await failureOf({
        ...secure(),
        ...tokens(),
        KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET: 'hush',
        KAFKA_SASL_OAUTHBEARER_CA_LOCATION: '',
      }),
    };
    for (const failure of Object.values(failures)) expect(failure).not.toContain('\n');
    expect(failures.password).toMatch(/authentication failed.*see KAFKA_SASL_MECHANISM/i);
    expect(failures.mechanism).toContain('see KAFKA_SASL_MECHANISM');
    expect(failures.sasl).toContain('does KAFKA_SECURITY_PROTOCOL match');
    expect(failures.token).toMatch(/invalid_token.*see KAFKA_SASL_OAUTHBEARER_SCOPE/);
    expect(failures.announced).toContain('Kafka announces inner.invalid:9092');
    expect(failures.authority).toContain('KAFKA_SSL_CA_LOCATION');
    expect(failures.name).toContain('KAFKA_BROKERS must use a name that the certificate has');
    expect(failures.protocol).toContain('KAFKA_SECURITY_PROTOCOL');
    expect(failures.transport).toContain('KAFKA_SECURITY_PROTOCOL');
    expect(failures.secret).toMatch(/invalid_client \(see KAFKA_SASL_OAUTHBEARER_CLIENT_ID/);
    expect(failures.endpoint).toContain('KAFKA_SASL_OAUTHBEARER_CA_LOCATION must name');
  });
});

type RedisTls = NonNullable<Parameters<typeof RedisStore.open>[0]['tls']>;

const openRedis = async (urls: readonly string[], tls: RedisTls) => {
  const store = await RedisStore.open({ urls, tls }, MODEL, () => {});
  stack.own(store);
  return store;
};

async function refusalOf(url: string, tls: RedisTls): Promise<string> {
  const failure = await openRedis([url], tls).catch((error: Error) => error.message);
  expect(failure).toMatch(/^cannot use Redis at [a-z0-9.]+:\d+ \(REDIS_URL\): .+/);
  expect(failure).not.toContain('\n');
  return failure as string;
}

describe('Redis over TLS with a user of its own', () => {
  const url = (password: string) => `rediss://freshet:${password}@127.0.0.1:${ports.redis}`;
  const right = () => ({ ca: read('authority.pem'), ...mine() });
  const mine = () => ({ cert: read('client.pem'), key: read('client.key') });

  it('is used with its authority, its password and the certificate that it asks for', async () => {
    await openRedis([url('redis-secret')], right());
  });

  it('says in one line what is wrong, and does not repeat the password', async () => {
    const secret = url('redis-secret');
    const wrong = {
      password: await refusalOf(url('wrong-secret'), right()),
      authority: await refusalOf(secret, { ...right(), ca: read('stranger.pem') }),
      unknown: await refusalOf(secret, mine()),
      name: await refusalOf(secret.replace('127.0.0.1', 'localhost'), right()),
      certificate: await refusalOf(secret, { ca: read('authority.pem') }),
      transport: await refusalOf(secret.replace('rediss', 'redis'), right()),
      database: await refusalOf(`${secret}/99`, right()),
    };
    for (const line of Object.values(wrong)) expect(line).not.toMatch(/wrong-secret|redis-secret/);
    expect(wrong.password).toMatch(/WRONGPASS .*see the user name and the password in REDIS_URL/);
    expect(wrong.authority).toContain('REDIS_TLS_CA_LOCATION must name the authority');
    expect(wrong.unknown).toContain('REDIS_TLS_CA_LOCATION must name the authority');
    expect(wrong.name).toContain('REDIS_URL must use a name that the certificate has');
    expect(wrong.certificate).toContain('REDIS_TLS_CERTIFICATE_LOCATION');
    expect(wrong.transport).toContain('does that port speak TLS (rediss://)');
    expect(wrong.database).toContain('see the number of the database in REDIS_URL');
  });
});

describe('a Redis Cluster over TLS whose nodes have names and users', () => {
  const tls = () => ({ ca: read('authority.pem') });
  const urlOf = (user: string, host = 'localhost') =>
    `rediss://freshet-${user}:secret-of-${user}@${host}:${nodes[0]}`;

  beforeAll(async () => {
    nodes = await startSecureCluster(folder, MODEL, stack);
  });

  it('is found by one of its nodes, whose user and password the others get too', async () => {
    const store = await openRedis([urlOf('updater')], tls());
    // Shards of all slots, so on every node.
    for (const { side, shard } of shardIds(4)) await store.entity({ side, shard }, 'nobody');
  });

  it('says in one line that a password or a name is wrong', async () => {
    const guess = await refusalOf(urlOf('updater').replace('secret-of', 'guess-of'), tls());
    expect(guess).toContain('see the user name and the password in REDIS_URL');
    const two = nodes.slice(0, 2).map((port) => `rediss://127.0.0.1:${port}`);
    const misnamed = await openRedis(two, tls()).catch((error: Error) => error.message);
    expect(misnamed).toContain('REDIS_URL must use a name that the certificate has');
  });
});
