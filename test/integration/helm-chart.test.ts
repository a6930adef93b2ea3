/**
 * Does the Helm chart make manifests that Kubernetes accepts, that fit together, and that give the
 * services what they need? A real helm renders it; no cluster is needed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings, settings } from '@freshet/config';
import { allServiceNames } from '@freshet/local';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { stages, valuesOf, variablesOf } from '../deploy/dockerfile.ts';
import { chart, hasHelm, rendered, runHelm, type Values } from '../deploy/helm.ts';
import { everything } from '../deploy/helm-values.ts';
import { problemsOf } from '../deploy/kubernetes-schemas.ts';
import {
  containerOf,
  environmentOf,
  found,
  type Manifest,
  matches,
  ofKind,
  podOf,
  selectedBy,
} from '../deploy/manifests.ts';
import { prometheusFolder } from '../deploy/monitoring.ts';

let plain: Manifest[];
let full: Manifest[];

beforeAll(async () => {
  if (!hasHelm) return;
  [plain, full] = [await rendered(), await rendered(everything)];
});

describe.skipIf(!hasHelm)('the chart', () => {
  it('passes helm lint, with and without everything turned on', async () => {
    for (const values of [{}, everything]) {
      expect(await runHelm(['lint', '--strict', chart], values)).toContain('0 chart(s) failed');
    }
  });

  it('makes manifests that the schemas of Kubernetes and of the operators accept', () => {
    for (const manifest of [...plain, ...full]) {
      expect(problemsOf(manifest), `${manifest.kind} ${manifest.metadata.name}`).toEqual([]);
    }
  });

  it('would be caught with a field that is misspelt, missing or of another kind', () => {
    const manifest = found(plain, 'Deployment', 'freshet-scorer');
    const { selector, ...rest } = manifest.spec;
    const broken = (spec: object) => problemsOf({ ...manifest, spec } as Manifest).join();
    expect(broken({ selector, ...rest, minReadySecond: 5 })).toContain('/spec/minReadySecond');
    expect(broken(rest)).toContain('selector');
    expect(broken({ selector, ...rest, replicas: 'two' })).toContain('replicas');
  });

  it('has the version of this project, and runs the images of that version', () => {
    const root = new URL('../../package.json', import.meta.url);
    const { version } = JSON.parse(readFileSync(root, 'utf8'));
    const own = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'));
    expect([own.version, own.appVersion]).toEqual([version, version]);
    for (const service of allServiceNames) {
      expect(containerOf(plain, service).image).toBe(`freshet-${service}:${version}`);
      expect(containerOf(full, service).image).toBe(
        `registry.example/team/freshet-${service}:${version}`,
      );
    }
  });

  it('turns on nothing that needs an operator, unless it is asked to', () => {
    const kinds = new Set(plain.map(({ apiVersion }) => apiVersion));
    expect([...kinds].sort()).toEqual(['apps/v1', 'policy/v1', 'v1']);
  });

  it('takes the values that its page shows', async () => {
    const page = readFileSync(new URL('../../docs/kubernetes.md', import.meta.url), 'utf8');
    const shown = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text]) => parse(text));
    expect(shown).toHaveLength(3);
    for (const values of shown) expect(await rendered(values)).toHaveLength(plain.length);
  });

  it('gives two releases in a namespace names of their own, none too long', async () => {
    const release = `r${'x'.repeat(52)}`;
    const other = await rendered(everything, release);
    const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;
    expect(other.map(nameOf).filter((name) => full.map(nameOf).includes(name))).toEqual([]);
    expect(new Set(other.map(nameOf)).size).toBe(other.length);
    expect(Math.max(...other.map(({ metadata }) => metadata.name.length))).toBeLessThanOrEqual(63);
  });
});

describe.skipIf(!hasHelm)('the pods of the chart', () => {
  it('run every service, and exactly one aggregator at any time', () => {
    const names = ofKind(plain, 'Deployment').map(({ metadata }) => metadata.name);
    expect(names.sort()).toEqual(allServiceNames.map((service) => `freshet-${service}`).sort());
    const { replicas, strategy } = found(full, 'Deployment', 'freshet-aggregator').spec;
    expect([replicas, strategy.type]).toEqual([1, 'Recreate']);
  });

  it('have settings that exist, each once', () => {
    for (const service of [...allServiceNames, 'cli']) {
      const names = containerOf(full, service).env.map(({ name }) => name);
      expect(new Set(names).size, service).toBe(names.length);
      const others = names.filter((name) => !(name in settings));
      const cache = service === 'cli' ? ['XDG_CACHE_HOME'] : [];
      expect(others, service).toEqual([...cache, 'NODE_OPTIONS']);
    }
  });

  it('have settings that can be read, and listen where they are asked', () => {
    for (const container of allServiceNames.flatMap((service) => [
      containerOf(plain, service),
      containerOf(full, service),
    ])) {
      const read: Readonly<Record<string, unknown>> = readSettings(environmentOf(container));
      const name = container.name.toUpperCase();
      const ports = new Map([['admin', read[`${name}_ADMIN_PORT`]]]);
      expect(read.ADMIN_HOST).toBe('0.0.0.0');
      if (`${name}_PORT` in settings) {
        ports.set('http', read[`${name}_PORT`]);
        expect([read.HTTP_HOST, read.HTTP_TOKEN]).toEqual(['0.0.0.0', 'a-secret']);
      }
      const opened = container.ports?.map((port) => [port.name, port.containerPort] as const);
      expect(new Map(opened)).toEqual(ports);
    }
  });

  it('get numbers as they were written, and zeros too', () => {
    const { HTTP_BODY_BYTES, RHO, PUSH } = environmentOf(containerOf(full, 'scorer'));
    expect([HTTP_BODY_BYTES, RHO, PUSH]).toEqual(['1048576', '5', 'true']);
    const { STATE_CACHE_MB, QUALITY_SAMPLE } = environmentOf(containerOf(full, 'updater'));
    expect([STATE_CACHE_MB, QUALITY_SAMPLE]).toEqual(['512', '0']);
  });

  it('have the defaults of Freshet for settings that are null', async () => {
    const updater = { settings: { KAFKA_BROKERS: null } };
    const manifests = await rendered({ settings: { MODEL: null, HTTP_TOKEN_FILE: null }, updater });
    expect(environmentOf(containerOf(manifests, 'scorer')).KAFKA_BROKERS).toBe('kafka:9092');
    const names = Object.keys(environmentOf(containerOf(manifests, 'updater')));
    expect(names).toEqual(['ADMIN_HOST', 'REDIS_URL', 'UPDATER_ADMIN_PORT']);
  });

  it('get only the secrets that they use, and no secret as text', () => {
    const secretsOf = (service: string): string[] =>
      containerOf(full, service).env.flatMap(({ name, valueFrom }) => (valueFrom ? [name] : []));
    const kafka = ['KAFKA_SASL_PASSWORD', 'KAFKA_SASL_USERNAME'];
    const redis = ['REDIS_TLS_KEY_PASSWORD', 'REDIS_URL'];
    expect(secretsOf('updater')).toEqual([...kafka, ...redis, 'SCHEMA_REGISTRY_PASSWORD']);
    expect(secretsOf('aggregator')).toEqual([...kafka, ...redis]);
    expect(secretsOf('scorer')).toEqual(['HTTP_TOKEN', ...kafka, ...redis]);
    expect(secretsOf('console')).toEqual(['HTTP_TOKEN', ...kafka]);
    const names = Object.keys(environmentOf(containerOf(full, 'console')));
    expect(names.filter((name) => name.startsWith('REDIS_'))).toEqual([]);
  });

  it('are probed on the admin port, by paths that it has', () => {
    for (const service of allServiceNames) {
      const container = containerOf(plain, service);
      const { startupProbe, livenessProbe, readinessProbe } = container;
      const probes = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet);
      expect(probes).toEqual([
        { path: '/livez', port: 'admin' },
        { path: '/livez', port: 'admin' },
        { path: '/readyz', port: 'admin' },
      ]);
      expect(container.ports?.map(({ name }) => name)).toContain('admin');
    }
  });

  it('have the admin port of the images, and the id of their user', () => {
    const [, image] = stages();
    for (const service of allServiceNames) {
      const name = `${service.toUpperCase()}_ADMIN_PORT`;
      expect(environmentOf(containerOf(plain, service))[name]).toBe(variablesOf(image)[name]);
    }
    // Kubernetes cannot tell that a user is not root by its name. In Node's images `node` is 1000.
    expect(valuesOf(image, 'USER')).toEqual(['node']);
    expect(valuesOf(image, 'FROM')[0]).toMatch(/^node:/);
    for (const { spec } of ofKind(full, 'Deployment')) {
      const { securityContext, containers } = spec.template.spec;
      expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
      expect(containers[0].securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  it('are not told of Services by variables that would pass for settings', () => {
    for (const { spec } of ofKind(full, 'Deployment')) {
      expect(spec.template.spec.enableServiceLinks).toBe(false);
    }
  });

  it('have the time that a service needs to stop', () => {
    const source = new URL('../../packages/service/src/run-service.ts', import.meta.url);
    const [, limit = ''] = /CLOSE_LIMIT_MS = ([\d_]+)/.exec(readFileSync(source, 'utf8')) ?? [];
    const seconds = Number(limit.replaceAll('_', '')) / 1000;
    expect(seconds).toBeGreaterThan(0);
    for (const service of allServiceNames) {
      const [, drain = '0'] = containerOf(plain, service).lifecycle?.preStop.exec.command ?? [];
      const { terminationGracePeriodSeconds } = podOf(plain, service).spec;
      expect(terminationGracePeriodSeconds).toBeGreaterThan(seconds + Number(drain));
    }
    expect(podOf(full, 'updater').spec.terminationGracePeriodSeconds).toBe(60);
  });

  it('can run the command line, which needs a place for its notes', () => {
    const { command, env } = containerOf(full, 'cli');
    expect(command).toEqual(['sleep', 'infinity']);
    expect(env).toContainEqual({ name: 'XDG_CACHE_HOME', value: '/tmp' });
    const { SCORER_URL, HTTP_TOKEN } = environmentOf(containerOf(full, 'cli'));
    expect([SCORER_URL, HTTP_TOKEN]).toEqual(['http://freshet-scorer:8080', 'a-secret']);
  });
});

describe.skipIf(!hasHelm)('what the chart puts around the pods', () => {
  it('selects the pods of one service each, by labels that they have', () => {
    for (const manifests of [plain, full]) {
      for (const { kind, metadata, spec } of manifests) {
        const service = metadata.labels['app.kubernetes.io/component'];
        if (kind === 'ServiceAccount' || service === undefined) continue;
        const selector = {
          Deployment: spec.selector?.matchLabels,
          Service: spec.selector,
          PodDisruptionBudget: spec.selector?.matchLabels,
          NetworkPolicy: spec.podSelector?.matchLabels,
        }[kind];
        if (selector === undefined) continue;
        expect(selectedBy(selector, manifests), `${kind} ${metadata.name}`).toEqual([service]);
      }
      for (const { spec } of ofKind(manifests, 'Deployment')) {
        const { topologySpreadConstraints, containers } = spec.template.spec;
        for (const { labelSelector } of topologySpreadConstraints) {
          expect(selectedBy(labelSelector.matchLabels, manifests)).toEqual([containers[0].name]);
        }
      }
    }
  });

  it('names ports that the selected pods have, and an account that exists', () => {
    for (const { spec } of ofKind(full, 'Service')) {
      const [service] = selectedBy(spec.selector, full);
      const opened = containerOf(full, service).ports?.map(({ name }) => name);
      for (const { targetPort } of spec.ports) expect(opened).toContain(targetPort);
    }
    for (const { spec } of ofKind(full, 'NetworkPolicy')) {
      const [service] = selectedBy(spec.podSelector.matchLabels, full);
      const opened = containerOf(full, service).ports?.map(({ name }) => name);
      for (const { port } of spec.ingress.flatMap(({ ports }) => ports)) {
        expect(opened).toContain(port);
      }
    }
    for (const { spec } of ofKind(full, 'Deployment')) {
      found(full, 'ServiceAccount', spec.template.spec.serviceAccountName);
    }
  });

  it('lets the console find every service', () => {
    const { CONSOLE_TARGETS, SCORER_URL } = readSettings(
      environmentOf(containerOf(plain, 'console')),
    );
    expect(CONSOLE_TARGETS.map(({ service }) => service)).toEqual(
      [...allServiceNames].sort(byOrder),
    );
    for (const { service, address } of CONSOLE_TARGETS) {
      if (service === 'console') continue;
      const [host, port] = address.split(':');
      const { spec } = found(plain, 'Service', host);
      expect(spec.ports).toEqual([{ name: 'admin', port: Number(port), targetPort: 'admin' }]);
      expect(selectedBy(spec.selector, plain)).toEqual([service]);
    }
    const { hostname, port } = new URL(SCORER_URL);
    expect(found(plain, 'Service', hostname).spec.ports[0].port).toBe(Number(port));
  });

  it('has every process scraped, under the job that the rules know', () => {
    const { jobLabel, selector, endpoints } = found(full, 'ServiceMonitor', 'freshet').spec;
    const scraped = ofKind(full, 'Service').filter(
      ({ metadata, spec }) =>
        matches(selector.matchLabels, metadata.labels) &&
        spec.ports.some(({ name }) => name === endpoints[0].port),
    );
    expect(scraped.map(({ metadata }) => metadata.labels[jobLabel]).sort()).toEqual(
      [...allServiceNames].sort(),
    );
    expect(endpoints[0].path).toBe('/metrics');
  });

  it('brings the very rules and alerts of deploy/prometheus', () => {
    const files = readdirSync(join(prometheusFolder, 'rules'));
    const groups = files.map(
      (file) => parse(readFileSync(join(prometheusFolder, 'rules', file), 'utf8')).groups,
    );
    expect(ofKind(full, 'PrometheusRule').map(({ spec }) => spec.groups)).toEqual(groups);
    expect(groups.length).toBeGreaterThan(1);
  });
});

describe.skipIf(!hasHelm)('a wrong value', () => {
  const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8'));
  const secrets = Object.entries(settings).flatMap(([name, row]) =>
    'secret' in row ? [name] : [],
  );
  const refused = async (values: Values): Promise<string> =>
    String(await rendered(values).catch((error: Error) => error));

  it('is refused by its name', async () => {
    // Versions of helm say it in other words.
    const cases: [Values, RegExp][] = [
      [{ settings: { KAFKA_BROKER: 'b:9092' } }, /settings.*KAFKA_BROKER/],
      [{ updater: { replica: 3 } }, /updater.*replica/],
      [{ scorer: { replicas: 'many' } }, /scorer.replicas.*string/],
      [{ secrets: { REDIS_URL: 'redis://r' } }, /secrets.REDIS_URL.*string/],
      [{ settings: { MODEL_FILE: '/x' } }, /settings.*MODEL_FILE/],
      [{ fullnameOverride: 'My_Shop' }, /fullnameOverride.*My_Shop/],
      [{ image: { registry: null } }, /image.*registry/],
      [{ scorer: { service: null } }, /scorer.*service/],
      [{ scorer: { drainSeconds: 30 } }, /terminationGracePeriodSeconds to 40/],
      [{ pod: { labels: { 'app.kubernetes.io/component': 'x' } } }, /labels/],
      [{ pod: { extraEnv: [{ name: 'REDIS_URL', value: 'x' }] } }, /REDIS_URL is in extraEnv/],
      [{ image: { digests: { updaters: `sha256:${'0f'.repeat(32)}` } } }, /digests.*updaters/],
    ];
    for (const [values, problem] of cases) expect(await refused(values)).toMatch(problem);
  });

  it('is a secret among the settings, or no token at all', async () => {
    // The URL of a Redis without a password is none.
    for (const name of secrets.filter((each) => each !== 'REDIS_URL')) {
      const problem = `${name} is among the settings`;
      expect(await refused({ settings: { [name]: 'x' } })).toContain(problem);
      expect(await refused({ updater: { settings: { [name]: 'x' } } })).toContain(problem);
    }
    expect(await refused({ secrets: { HTTP_TOKEN: null } })).toContain('secrets.HTTP_TOKEN');
  });

  it('is told from a setting that exists, unless the chart itself decides that one', () => {
    const { properties } = schema.definitions.settings;
    const decided = /^(ADMIN_HOST|HTTP_HOST|(SCORER|CONSOLE)_PORT|[A-Z]+_ADMIN_PORT)$/;
    const expected = Object.keys(settings).filter((name) => !decided.test(name));
    const place = 'definitions.settings of values.schema.json';
    expect(Object.keys(properties).sort(), place).toEqual(expected.sort());
  });

  it('is told from a secret setting, each of which may come from a Secret', () => {
    const { properties } = schema.properties.secrets;
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(secrets));
    for (const name of Object.keys(properties)) expect(settings).toHaveProperty(name);
  });
});

function byOrder(one: string, other: string): number {
  const order = ['updater', 'aggregator', 'scorer', 'console'];
  return order.indexOf(one) - order.indexOf(other);
}
