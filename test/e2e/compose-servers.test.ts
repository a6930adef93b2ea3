/**
 * Do Kafka and the Redis Cluster start as docker-compose.yml sets them up? Without Docker: the same
 * settings, commands and files, with ports and folders of this machine.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Child, freePort, stepsTo } from '@freshet/local';
import { afterAll, expect, it } from 'vitest';
import { classArchive, quickJava } from '../../packages/local/src/java.ts';
import { accepts, freeNodePort } from '../../packages/local/src/ports.ts';
import { kafkaJars } from '../../packages/local/src/provision.ts';
import { compose } from '../deploy/compose.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'freshet-compose-'));
const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const started: Child[] = [];
const START_LIMIT_MS = 180_000;

function start(name: string, command: string, args: readonly string[]): Child {
  const child = Child.start({ name, command, args, logFile: join(folder, `${name}.log`) });
  started.push(child);
  return child;
}

afterAll(async () => {
  await Promise.all(started.map((child) => child.stop()));
  rmSync(folder, { recursive: true, force: true });
});

it('Kafka takes every setting, and answers where its health check asks', async () => {
  const { environment = {}, healthcheck } = compose.services.kafka;
  const ports = new Map<string, number>();
  for (const port of ['9092', '9093', '9094']) ports.set(port, await freePort());
  // As the image does it: KAFKA_NODE_ID is node.id.
  const settings = Object.entries(environment)
    .filter(([name]) => /^KAFKA_(?!HEAP_OPTS)/.test(name))
    .map(([name, value]) => {
      const property = name.slice('KAFKA_'.length).toLowerCase().replaceAll('_', '.');
      const here = String(value)
        .replaceAll(/\d{4}\b/g, (port) => String(ports.get(port) ?? port))
        .replaceAll(/:\/\/(kafka)?:/g, '://127.0.0.1:');
      return [property, property === 'log.dirs' ? join(folder, 'kafka') : here] as const;
    });
  const properties = join(folder, 'kafka.properties');
  writeFileSync(properties, settings.map((pair) => `${pair.join('=')}\n`).join(''));
  const jars = await kafkaJars(stepsTo(() => {}));
  const java = quickJava(jars, classArchive(jars));
  const format = ['kafka.tools.StorageTool', 'format', '-t', String(environment.CLUSTER_ID)];
  await run('java', [...java, ...format, '-c', properties]);
  const heap = String(environment.KAFKA_HEAP_OPTS).split(' ');
  const kafka = start('kafka', 'java', [...heap, ...java, 'kafka.Kafka', properties]);
  const [asked = ''] = /\d{4}/.exec(healthcheck?.test.at(-1) ?? '') ?? [];
  for (const port of [asked, '9094']) {
    await kafka.until(() => accepts(ports.get(port) ?? 0), START_LIMIT_MS);
  }
  // Kafka ignores unknown settings, and lists the known ones when it starts.
  const known = readFileSync(kafka.logFile, 'utf8');
  for (const [property] of settings) expect(known).toContain(`\t${property} = `);
});

it('six nodes of Redis become one cluster, once', async () => {
  const nodes: string[] = [];
  for (const [name, { command = [], profiles }] of Object.entries(compose.services)) {
    if (!profiles?.includes('cluster') || command[0] !== 'redis-server') continue;
    const port = await freeNodePort();
    const [program, config, ...args] = command;
    expect(config).toBe('/etc/redis.conf');
    const data = join(folder, name);
    mkdirSync(data);
    const own = ['--port', String(port), '--bind', '127.0.0.1', '--dir', data];
    start(name, program, [file('deploy/redis/redis.conf'), ...args, ...own]);
    nodes.push(`127.0.0.1:${port}`);
  }
  const script = file('deploy/redis/create-cluster.sh');
  const first = await run('sh', [script, ...nodes]);
  expect(first.stdout).toContain('the cluster of 6 nodes is ready');
  const again = await run('sh', [script, ...nodes]);
  expect(again.stdout).toBe('create-cluster: the cluster of 6 nodes is ready\n');
  const [, port = ''] = nodes[0].split(':');
  const { stdout } = await run('redis-cli', ['-p', port, 'cluster', 'nodes']);
  expect(stdout.match(/ (myself,)?slave /g)).toHaveLength(3);
});
