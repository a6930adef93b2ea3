/**
 * Does each image work? Without Docker: the steps of the Dockerfile are carried out in an empty
 * folder, on the files that a build gets to see, and the image's own command and health check are
 * run from there against a real Kafka and Redis.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { searchPath } from '@freshet/config';
import { Child, freePort, untilReady } from '@freshet/local';
import { eventually, System } from '@freshet/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose } from '../deploy/compose.ts';
import { isIgnored, stages, valuesOf, variablesOf } from '../deploy/dockerfile.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'freshet-images-'));
const [build, image] = stages();
const services = readdirSync(join(root, 'services'));
const READY_LIMIT_MS = 180_000;

/** Everything that a container's environment has, and nothing that this one has beside the path. */
const bare = { PATH: searchPath(), HOME: folder };
const [command, ...args] = JSON.parse(valuesOf(image, 'CMD')[0]) as string[];
const [, healthCheck = ''] = valuesOf(image, 'HEALTHCHECK')[0].split(/CMD (?=\[)/);

let system: System;
let environment: Record<string, string>;
const running: Child[] = [];

/** A RUN step, with the folder of the image in place of the one inside the build. */
async function carryOut(step: string, service = ''): Promise<void> {
  const cwd = join(folder, 'build');
  const script = step.replace(/ \/image$/, ` ${join(folder, service)}`);
  await run('env', [`SERVICE=${service}`, 'sh', '-ec', script], { cwd });
}

beforeAll(async () => {
  system = await System.open();
  environment = await containerEnvironment();
  const filter = (path: string): boolean => !isIgnored(relative(root, path));
  cpSync(root, join(folder, 'build'), { recursive: true, filter });
  // As of a checkout that was made under a strict umask: Docker keeps the modes of files.
  await run('chmod', ['-R', 'go-rwx', join(folder, 'build')]);
  const [setup, layout] = valuesOf(build, 'RUN');
  await carryOut(setup);
  for (const service of [...services, 'cli']) await carryOut(layout, service);
  // An image keeps nothing of the stage it was built in.
  rmSync(join(folder, 'build'), { recursive: true });
});

afterAll(async () => {
  await Promise.all(running.map((child) => child.stop()));
  await system?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the images', () => {
  it('hold the services and what they stand on, and no sources', () => {
    expect(valuesOf(image, 'COPY')).toEqual(['--from=build /image .']);
    for (const service of services) {
      const files = ['packages', 'services'].flatMap((each) =>
        filesIn(join(folder, service, each)),
      );
      expect(files.filter((path) => !/\/(package|dist|lua|schemas)/.test(path))).toEqual([]);
      expect(files.filter((path) => /\.d\.ts$|\/src\//.test(path))).toEqual([]);
      expect(readdirSync(join(folder, service))).toContain('service');
    }
    expect(readdirSync(join(folder, 'console/service/dist/page'))).toContain('index.html');
  });

  it('can be read by the user that runs them, whatever umask the checkout was made under', async () => {
    const own = ['-not', '-path', '*/node_modules/*'];
    const unread = ['(', '-not', '-perm', '-o=r', '-o', '-type', 'd', '-not', '-perm', '-o=x', ')'];
    for (const service of [...services, 'cli']) {
      const line = [join(folder, service), ...own, '-not', '-type', 'l', ...unread];
      expect((await run('find', line)).stdout, service).toBe('');
    }
  });

  it('become ready, every service, by their own health check', async () => {
    for (const service of services) running.push(launch(service));
    for (const child of running) {
      const port = Number(environment[`${child.name.toUpperCase()}_ADMIN_PORT`]);
      const [, ...check] = JSON.parse(healthCheck.replace('9400', String(port))) as string[];
      await untilReady(child, port, READY_LIMIT_MS);
      // An aggregator that has just become the active one may not be ready at the first request.
      await eventually('the health check to succeed', () => run('node', check));
    }
  });

  it('have a demo whose health check succeeds once the scorer has heard of Ada', async () => {
    const { command: line = [], healthcheck } = compose.services.demo;
    environment.SCORER_URL = `http://127.0.0.1:${environment.SCORER_PORT}`;
    const demo = launch('cli', [...line]);
    running.push(demo);
    await demo.until(async () => demo.lastWords().includes('ada liked'), READY_LIMIT_MS);
    // Compose writes a dollar as two.
    const check = healthcheck?.test.slice(2).map((text) => text.replaceAll('$$', '$'));
    await eventually('the health check to succeed', () => run('node', check, { env: environment }));
  });

  it('stop when they are told to, as a container is', async () => {
    for (const child of running) child.signal('SIGTERM');
    const ends = running.map(async (child) =>
      (await child.exited) === 0 ? '' : child.diagnosis(),
    );
    expect(await Promise.all(ends)).toEqual(running.map(() => ''));
  });

  it('have the command line, too', async () => {
    const line = [...args, 'topics'];
    const env = { ...bare, KAFKA_BROKERS: system.brokers, REDIS_URL: system.redisUrl };
    const { stdout } = await run(command, line, { cwd: join(folder, 'cli'), env });
    expect(stdout).toContain('ratings-dead-letter');
  });
});

/** What an image and docker-compose.yml set, with ports of this machine. */
async function containerEnvironment(): Promise<Record<string, string>> {
  const given = {
    ...bare,
    ...variablesOf(image),
    KAFKA_BROKERS: system.brokers,
    REDIS_URL: system.redisUrl,
    HTTP_TOKEN: 'only for this test',
    // A token would open it to all addresses, and this is no container.
    HTTP_HOST: '127.0.0.1',
    ADMIN_HOST: '127.0.0.1',
    SCORER_PORT: '',
    CONSOLE_PORT: '',
  };
  const ports: Record<string, string> = {};
  for (const name of Object.keys(given).filter((each) => each.endsWith('_PORT'))) {
    ports[name] = String(await freePort());
  }
  return { ...given, ...ports };
}

/** All but what was installed. */
function filesIn(path: string): string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .flatMap((entry) => {
      const inner = join(path, entry.name);
      return entry.isDirectory() ? filesIn(inner) : [relative(folder, inner)];
    });
}

function launch(service: string, line = [command, ...args]): Child {
  const variables = Object.entries(environment).map((pair) => pair.join('='));
  return Child.start({
    name: service,
    command: 'env',
    args: ['-i', ...variables, ...line],
    folder: join(folder, service),
    logFile: join(folder, `${service}.log`),
  });
}
