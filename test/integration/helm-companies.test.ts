/** Does the chart work as companies install it: renamed, within other charts, by digest? */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settings } from '@freshet/config';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { chart, hasHelm, rendered } from '../deploy/helm.ts';
import { everything } from '../deploy/helm-values.ts';
import { containerOf, type Manifest } from '../deploy/manifests.ts';

const serviceName = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;

let plain: Manifest[];

beforeAll(async () => {
  if (hasHelm) plain = await rendered();
});

describe.skipIf(!hasHelm)('the chart, as companies install it,', () => {
  it('has names that a Service may have, whatever the release is called', async () => {
    for (const release of ['my.shop', '1shop', `9.${'x'.repeat(51)}`]) {
      const names = (await rendered(everything, release)).map(({ metadata }) => metadata.name);
      for (const name of names) expect(name).toMatch(serviceName);
    }
  });

  it('pulls an image by its digest, from a registry with a port', async () => {
    const digest = `sha256:${'0f'.repeat(32)}`;
    const image = { registry: 'registry.example:5000/team', tag: '1.2', digests: { cli: digest } };
    const manifests = await rendered({ image, cli: { enabled: true } });
    const team = 'registry.example:5000/team';
    expect(containerOf(manifests, 'cli').image).toBe(`${team}/freshet-cli:1.2@${digest}`);
    expect(containerOf(manifests, 'scorer').image).toBe(`${team}/freshet-scorer:1.2`);
    expect(await rendered({ image: { digests: null } })).toEqual(plain);
  });

  it('can be part of another chart, which may turn it on and off', async () => {
    const values = { global: { imageRegistry: 'registry.example' }, enabled: true };
    expect(await rendered(values)).toEqual(plain);
  });

  it('can be part of another chart several times, by any names that a chart may be given', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'freshet-parent-'));
    try {
      cpSync(chart, join(parent, 'charts/freshet'), { recursive: true, dereference: true });
      const { version } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'));
      const alias = (name: string) => ({ name: 'freshet', version, alias: name });
      const dependencies = [alias('filmClub'), alias('book_club')];
      const manifest = { apiVersion: 'v2', name: 'shop', version: '1.0.0', dependencies };
      writeFileSync(join(parent, 'Chart.yaml'), stringify(manifest));
      const manifests = await rendered({}, 'shop', parent);
      const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      expect(new Set(names).size).toBe(2 * plain.length);
      for (const { metadata } of manifests) expect(metadata.name).toMatch(serviceName);
    } finally {
      rmSync(parent, { recursive: true });
    }
  });

  it('takes secrets from files, each in place of the Secret, for the services that use it', async () => {
    const secrets = Object.entries(settings).filter(([, row]) => 'secret' in row);
    const paths = secrets.map(([name]) => [`${name}_FILE`, `/vault/${name}`]);
    const manifests = await rendered({ settings: Object.fromEntries(paths) });
    const given = (service: string) => {
      const names = containerOf(manifests, service).env.map(({ name }) => name);
      for (const [name] of secrets) expect(names).not.toContain(name);
      const kafka = /^KAFKA_SASL|^KAFKA_SSL/;
      return names.filter((name) => name.endsWith('_FILE') && !kafka.test(name)).sort();
    };
    const redis = ['SENTINEL_PASSWORD', 'TLS_KEY_PASSWORD', 'URL'].map(
      (name) => `REDIS_${name}_FILE`,
    );
    const registry = ['SCHEMA_REGISTRY_PASSWORD_FILE', 'SCHEMA_REGISTRY_TOKEN_FILE'];
    expect(given('updater')).toEqual([...redis, ...registry]);
    expect(given('aggregator')).toEqual(redis);
    expect(given('scorer')).toEqual(['HTTP_TOKEN_FILE', ...redis]);
    expect(given('console')).toEqual(['HTTP_TOKEN_FILE']);
  });
});
