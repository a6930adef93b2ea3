/**
 * Every service as a user of its own, allowed by the files in deploy what it needs, over TLS to
 * Kafka and to a Redis Cluster: the whole system must work, the broker must have no request of a
 * service to refuse, and each service must be refused what is not its own.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Topic, topicName, topics } from '@freshet/events';
import { type AnyServiceName, allServiceNames, freePort, stepsTo } from '@freshet/local';
import { ClosingStack } from '@freshet/service';
import { eventually, kcat, System } from '@freshet/testkit';
import {
  type AclEntry,
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  Kafka,
  ResourcePatternTypes,
} from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startKafka } from '../../packages/local/src/kafka-server.ts';
import { kafkaJars } from '../../packages/local/src/provision.ts';
import { makeCertificates, startSecureCluster } from '../deploy/secured.ts';

const MODEL = 'films';
/** One of those that the default of REPLY_TOPICS allows. */
const REPLIES = 'recommendations-eu';
const users = [...allServiceNames, 'operator'] as const;
type User = (typeof users)[number];

/** The topics that each service writes, as docs/security.md lists them. */
const writes: Readonly<Record<AnyServiceName, readonly Topic[]>> = {
  updater: [
    'ratingsDeadLetter',
    'userRatings',
    'itemRatings',
    'userFactors',
    'itemFactors',
    'gramParts',
    'claims',
  ],
  aggregator: ['grams'],
  scorer: ['ratings', 'ratingsDeadLetter', 'recommendations'],
  console: [],
};
const allTopics = Object.keys(topics) as Topic[];

const deploy = fileURLToPath(new URL('../../deploy', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'freshet-least-'));
const stack = new ClosingStack();
const ports = { admin: 0, sasl: 0, controller: 0 };
let redisPort = 0;
const authority = join(folder, 'authority.pem');
const passwordOf = (user: User) => `secret-of-${user}`;
let system: System;

const saslOf = (user: User) => ({
  mechanism: 'plain' as const,
  username: `freshet-${user}`,
  password: passwordOf(user),
});

function clientOf(user: User): Kafka {
  const brokers = [`localhost:${ports.sasl}`];
  const ssl = { ca: readFileSync(authority) };
  return new Kafka({ brokers, ssl, sasl: saslOf(user), logLevel: 0, retry: { retries: 0 } });
}

const redisOf = (user: User) =>
  `rediss://freshet-${user}:${passwordOf(user)}@localhost:${redisPort}`;

/** What redis-cli prints when it runs a command as a user. */
function redis(user: User, ...command: string[]): string {
  const trusting = ['-c', '--cacert', authority, '--no-auth-warning'];
  const args = [...trusting, '-u', redisOf(user), ...command];
  return execFileSync('redis-cli', args, { encoding: 'utf8' }).trim();
}

const settingsOf = (user: User) => ({
  KAFKA_SECURITY_PROTOCOL: 'SASL_SSL',
  KAFKA_SSL_CA_LOCATION: authority,
  KAFKA_SASL_MECHANISM: 'PLAIN',
  KAFKA_SASL_USERNAME: `freshet-${user}`,
  KAFKA_SASL_PASSWORD: passwordOf(user),
  REDIS_URL: redisOf(user),
  REDIS_TLS_CA_LOCATION: authority,
});

async function startServers(): Promise<void> {
  for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await freePort();
  makeCertificates(folder, { node: 'DNS:localhost' });
  const keystore = join(folder, 'keystore.pem');
  const parts = ['node.key', 'node.pem'].map((name) => readFileSync(join(folder, name)));
  writeFileSync(keystore, Buffer.concat(parts));
  const listeners = `PLAINTEXT://127.0.0.1:${ports.admin},SASL_SSL://localhost:${ports.sasl}`;
  const known = users.map((user) => `user_freshet-${user}="${passwordOf(user)}"`).join(' ');
  const kafka = await startKafka({
    jars: await kafkaJars(stepsTo(() => {})),
    folder,
    port: ports.admin,
    controllerPort: ports.controller,
    properties: {
      listeners: `${listeners},CONTROLLER://127.0.0.1:${ports.controller}`,
      'advertised.listeners': listeners,
      'listener.security.protocol.map':
        'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL',
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.location': keystore,
      'sasl.enabled.mechanisms': 'PLAIN',
      'listener.name.sasl_ssl.plain.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required ${known};`,
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      // The listener without a password stands for the administrator.
      'super.users': 'User:ANONYMOUS',
    },
  });
  stack.own({ close: () => kafka.stop() });
  [redisPort = 0] = await startSecureCluster(folder, MODEL, stack);
}

/** Runs the script with a command that notes its arguments, and asks the broker for these ACLs. */
async function allowInKafka(): Promise<void> {
  const note = join(folder, 'note.sh');
  writeFileSync(note, '#!/bin/sh\necho "$*"\n', { mode: 0o755 });
  const env = { PATH: process.env.PATH, MODEL, KAFKA_ACLS: note };
  const printed = execFileSync(
    join(deploy, 'kafka/acls.sh'),
    ['--bootstrap-server', 'kafka:9092'],
    {
      env,
      encoding: 'utf8',
    },
  );
  const lines = printed.trim().split('\n');
  const admin = new Kafka({ brokers: [`127.0.0.1:${ports.admin}`], logLevel: 0 }).admin();
  await admin.connect();
  await admin.createAcls({ acl: lines.flatMap(entriesOf) });
  await admin.createTopics({ topics: [{ topic: REPLIES }] });
  await admin.disconnect();
}

/** The ACLs that kafka-acls.sh would create for these arguments. */
function entriesOf(line: string): AclEntry[] {
  const words = line.split(/\s+/);
  const given = (option: string) => words.filter((_, at) => words[at - 1] === `--${option}`);
  const [principal] = given('allow-principal');
  const [pattern] = given('resource-pattern-type');
  expect(words.slice(0, 3)).toEqual(['--bootstrap-server', 'kafka:9092', '--add']);
  const resources = [
    ...given('topic').map((name) => [AclResourceTypes.TOPIC, name] as const),
    ...given('group').map((name) => [AclResourceTypes.GROUP, name] as const),
  ];
  return resources.flatMap(([resourceType, resourceName]) =>
    given('operation').map((operation) => ({
      principal: principal as string,
      host: '*',
      permissionType: AclPermissionTypes.ALLOW,
      operation: AclOperationTypes[operation.toUpperCase() as keyof typeof AclOperationTypes],
      resourceType,
      resourceName,
      resourcePatternType:
        pattern === 'prefixed' ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
    })),
  );
}

/** What the broker has refused to users of Freshet so far. */
const refusals = () =>
  readFileSync(join(folder, 'kafka.log'), 'utf8')
    .split('\n')
    .filter((line) => /freshet-.*is Denied/.test(line));

/** As the operator. */
async function succeed(...command: string[]): Promise<void> {
  const { code, out, err } = await system.freshet(command);
  expect(code, out + err).toBe(0);
}

beforeAll(async () => {
  await startServers();
  await allowInKafka();
  system = new System({
    folder,
    external: ['KAFKA_BROKERS', 'REDIS_URL'],
    settings: {
      KAFKA_BROKERS: `localhost:${ports.sasl}`,
      ...settingsOf('operator'),
      MODEL,
      PUSH: 'true',
    },
  });
  stack.own(system);
  await system.startServers();
  await succeed('topics');
  for (const name of allServiceNames) system.launch(name, settingsOf(name));
  await Promise.all(allServiceNames.map((name) => system.ready(name)));
});

afterAll(async () => {
  await stack.close();
  rmSync(folder, { recursive: true });
});

describe('with the ACLs of deploy, and nothing else allowed', () => {
  it('a rating becomes a list over HTTP and a push, and what is no rating a letter', async () => {
    const lines = [
      '{"user":"ann","item":"fox","value":5}',
      '{"user":"ben","item":"owl","value":4}',
    ];
    const brokers = `127.0.0.1:${ports.admin}`;
    await kcat(brokers, ['-P', '-t', 'ratings'], `${lines.join('\n')}\nno rating\n`);
    await eventually('ann to be offered what ben likes', async () => {
      const { items } = await system.recommendations('ann');
      return items.some(({ item }) => item === 'owl');
    });
    const posted = await fetch(`${system.scorerUrl}/v1/ratings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"user":"cat","item":"fox","value":3}',
    });
    expect(posted.status).toBe(202);
    await system.settled();
    const read = async (topic: string) => kcat(brokers, ['-C', '-t', topic, '-e', '-q']);
    await eventually('a push', async () => /"ann"/.test(await read('recommendations')));
    const asking = ['-P', '-t', 'recommendation-requests', '-H', `reply-topic=${REPLIES}`];
    await kcat(brokers, asking, '{"user":"ann"}\n');
    await eventually('an answer', async () => /"owl"/.test(await read(REPLIES)));
    await eventually('a letter', async () => /no rating/.test(await read('ratings-dead-letter')));
    await succeed('audit');
  });

  it('an operator who takes a snapshot, brings it back and asks about sources is refused nothing', async () => {
    const snapshot = join(folder, 'films.snapshot');
    await succeed('snapshot', snapshot);
    await succeed('sources');
    await succeed('dead-letters', 'list');
    await Promise.all(allServiceNames.map((name) => system.child(name).stop()));
    await succeed('restore', snapshot, '--replace');
    await succeed('rebuild', '--yes');
    expect(refusals()).toEqual([]);
  });

  it('a service that joins again is refused nothing', async () => {
    for (const name of allServiceNames) system.launch(name, settingsOf(name));
    await Promise.all(allServiceNames.map((name) => system.ready(name)));
    expect(refusals()).toEqual([]);
  });

  it.each(allServiceNames)('the %s may write its own topics and no other', async (name) => {
    const producer = clientOf(name).producer();
    await producer.connect();
    const accepted: Topic[] = [];
    for (const topic of allTopics) {
      if (writes[name].includes(topic)) continue;
      const sent = producer.send({ topic: topicName(topic, MODEL), messages: [{ value: 'x' }] });
      await sent
        .then(() => accepted.push(topic))
        .catch((error: Error) => {
          expect(error.message).toMatch(/not authorized/i);
        });
    }
    await producer.disconnect();
    expect(accepted).toEqual([]);
    // So an empty list of refusals above means something.
    expect(refusals().some((line) => line.includes(`freshet-${name}`))).toBe(true);
  });

  it('nobody but the updater reads who rated what', async () => {
    const whoRated = ['ratings', `${MODEL}.user-ratings`];
    for (const user of ['aggregator', 'scorer', 'console'] as const) {
      const { username, password } = saslOf(user);
      const sasl = `security.protocol=SASL_SSL,ssl.ca.location=${authority},sasl.mechanism=PLAIN,sasl.username=${username},sasl.password=${password}`;
      const as = sasl.split(',').flatMap((property) => ['-X', property]);
      for (const topic of whoRated) {
        const reading = kcat(`localhost:${ports.sasl}`, ['-C', '-t', topic, '-e', '-q', ...as]);
        await expect(reading, `${user} ${topic}`).rejects.toThrow(/authorization failed/i);
      }
    }
  });

  it('nobody but the updater writes what is learnt, and nobody reads another model', () => {
    const shard = `${MODEL}:{u:0}:meta`;
    for (const user of ['aggregator', 'scorer'] as const) {
      expect(redis(user, 'hget', shard, 'fence')).toMatch(/^\d+$/);
      expect(redis(user, 'hset', shard, 'fence', '9')).toContain('NOPERM');
      const script = "return redis.call('HSET', KEYS[1], 'fence', 9)";
      expect(redis(user, 'eval', script, '1', shard)).toContain("can't access");
    }
    for (const user of ['updater', 'aggregator', 'scorer', 'operator'] as const) {
      expect(redis(user, 'hget', 'other:{u:0}:meta', 'fence')).toContain('NOPERM');
      for (const command of [['flushall'], ['config', 'get', '*'], ['keys', '*'], ['acl', 'list']])
        expect(redis(user, ...command), `${user} ${command}`).toContain('NOPERM');
    }
  });
});
