/** Is everything that a release consists of whole, and of one version? */
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { searchPath } from '@freshet/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { stages, valuesOf } from './deploy/dockerfile.ts';
import { syntaxOf } from './tidy/syntax.ts';
import { code, find, owner, read } from './tidy/tree.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(read('package.json'));
const folder = mkdtempSync(join(tmpdir(), 'freshet-release-'));

afterAll(() => rmSync(folder, { recursive: true }));

describe('a release', () => {
  it('has one version, in every package, the chart and the images', () => {
    const manifests = find(/^(packages|services)\/[^/]+\/package\.json$/);
    for (const path of manifests) expect(JSON.parse(read(path)).version, path).toBe(version);
    const chart = parse(read('deploy/helm/freshet/Chart.yaml'));
    expect(chart).toMatchObject({ version, appVersion: version });
    const [, image] = stages();
    expect(valuesOf(image, 'ARG')).toContain(`VERSION=${version}`);
    // The chart pulls images by the version, so that a command must not build others.
    for (const path of find(/^(docs\/.*\.md|docker-compose\.yml)$/)) {
      const tags = [...read(path).matchAll(/freshet-[a-z]+:(\d[\w.-]*)/g)].map(([, tag]) => tag);
      expect(new Set([version, ...tags]), path).toEqual(new Set([version]));
    }
  });

  it('has a section in the changelog, with its date, below what is not released', () => {
    const headings = [...read('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, text]) => text);
    expect(headings[0]).toBe('Unreleased');
    expect(headings[1]).toMatch(new RegExp(`^${version} - \\d{4}-\\d{2}-\\d{2}$`));
  });
});

describe('an image', () => {
  it('has labels that say what it is and what it is made of', () => {
    const [, image] = stages();
    const labels = valuesOf(image, 'LABEL').join(' ');
    for (const name of ['title', 'description', 'version', 'revision', 'licenses']) {
      expect(labels).toMatch(new RegExp(`org\\.opencontainers\\.image\\.${name}="[^"]+"`));
    }
    const given = valuesOf(image, 'ARG').map((value) => value.split('=')[0]);
    const used = [...labels.matchAll(/\$(\w+)/g)].map(([, name]) => name);
    expect(given).toEqual(expect.arrayContaining(used));
  });
});

describe('the bill of materials', () => {
  it('has what runs, with version and hash, and nothing that only builds or tests', async () => {
    const { stdout } = await run(process.execPath, ['deploy/sbom.mjs'], { cwd: root });
    const { bomFormat, components, dependencies } = JSON.parse(stdout);
    expect(bomFormat).toBe('CycloneDX');
    const byName = new Map<string, { version: string; hashes: unknown; licenses: unknown }>(
      components.map((component: { name: string }) => [component.name, component]),
    );
    const pinned = parse(read('pnpm-workspace.yaml')).catalog;
    for (const name of ['kafkajs', 'ioredis', 'fastify', 'avsc', 'prom-client']) {
      expect(byName.get(name)).toMatchObject({
        version: pinned[name],
        hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
        licenses: [{ expression: expect.any(String) }],
      });
    }
    for (const name of ['vitest', 'typescript', 'playwright-core']) {
      expect([...byName.keys()]).not.toContain(name);
    }
    const apart = ['bench', 'testkit'];
    const imported = code
      .filter((path) => !apart.includes(owner(path)))
      .flatMap((path) => syntaxOf(path).imports.map(({ specifier }) => specifier))
      .filter((specifier) => !/^(\.|node:|@freshet\/)/.test(specifier))
      .map((specifier) => specifier.replace(/^((@[^/]+\/)?[^/]+).*/, '$1'));
    expect(imported).toContain('uplot');
    expect([...byName.keys()]).toEqual(expect.arrayContaining(imported));
    const known = components.map((component: { 'bom-ref': string }) => component['bom-ref']);
    for (const { dependsOn } of dependencies) {
      expect(known).toEqual(expect.arrayContaining(dependsOn));
    }
  });
});

describe('the client', () => {
  const modules = ['client', 'error', 'index', 'operations'];

  it('is packed with its code, types, sources, README and licence, and works from there', async () => {
    const cwd = join(root, 'packages/client');
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
    const { stdout } = await run('npm', args, { cwd });
    const [{ filename, files }] = JSON.parse(stdout);
    const built = modules.flatMap((name) => ['.d.ts', '.js', '.js.map'].map((end) => name + end));
    const expected = [
      ...['LICENSE', 'README.md', 'package.json'],
      ...built.map((name) => `dist/${name}`),
      ...modules.map((name) => `src/${name}.ts`),
    ];
    expect(files.map(({ path }: { path: string }) => path).sort()).toEqual(expected.sort());
    await run('tar', ['-xzf', join(folder, filename)], { cwd: folder });
    const installed = join(folder, 'node_modules/@freshet/client');
    mkdirSync(installed, { recursive: true });
    cpSync(join(folder, 'package'), installed, { recursive: true });
    const use = `import { FreshetClient } from '@freshet/client';
const client = new FreshetClient({ url: 'http://127.0.0.1:1' });
console.log(typeof client.recommend);
`;
    writeFileSync(join(folder, 'use.mjs'), use);
    const used = await run(process.execPath, ['use.mjs'], { cwd: folder });
    expect(used.stdout).toBe('function\n');
    const list = "(await client.recommend('ann', { after: places[0] })).items";
    const rated = "const places = await client.rate({ user: 'ann', item: 'fox' });\n";
    const typed = use
      .replace('typeof client.recommend', list)
      .replace('console', `${rated}console`);
    writeFileSync(join(folder, 'use.mts'), typed);
    writeFileSync(join(folder, 'wrong.mts'), typed.replace("recommend('ann'", 'recommend(42'));
    const tsc = join(root, 'node_modules/.bin/tsc');
    // The strictest that a project may choose.
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    const options = ['--noEmit', ...strict, '--module', 'nodenext', '--target', 'es2022'];
    const check = (name: string) => run(tsc, [...options, name], { cwd: folder });
    await check('use.mts');
    await expect(check('wrong.mts')).rejects.toMatchObject({
      stdout: expect.stringContaining("'number' is not assignable to parameter of type 'string'"),
    });
  });
});

describe('the command line', () => {
  const unpacked = join(folder, 'package');
  const packed = (...args: string[]) =>
    run(process.execPath, args, { cwd: folder, env: { PATH: searchPath() } });

  beforeAll(async () => {
    rmSync(unpacked, { recursive: true, force: true });
    const { stdout } = await run(process.execPath, ['deploy/pack.mjs', folder], { cwd: root });
    const archive = join(folder, `freshet-${version}.tgz`);
    expect(stdout).toBe(`${archive}\n`);
    const { stdout: listing } = await run('tar', ['-tvzf', archive]);
    // npm leaves links out.
    expect(listing).toMatch(/^([d-].*\n)+$/);
    await run('tar', ['-xzf', archive, '-C', folder]);
  });

  it('is packed with licence, README, and all that it starts and depends on', () => {
    const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ name: 'freshet', version, license: 'MIT' });
    expect(manifest).not.toHaveProperty('private');
    expect(manifest.bundleDependencies).toEqual(Object.keys(manifest.dependencies));
    const files = readdirSync(unpacked, { recursive: true, encoding: 'utf8' });
    const needed = find(/^packages\/[^/]+\/(lua|schemas)\/|^deploy\/kafka\/pom.xml$/);
    const page = ['index.html', 'licenses.md'].map((name) => `services/console/dist/page/${name}`);
    const named = ['LICENSE', 'README.md', ...page, ...needed];
    expect(files).toEqual(expect.arrayContaining(named));
    expect(files.filter((path) => /\.test\.|\.d\.ts$|tsbuildinfo|\/\./.test(path))).toEqual([]);
  });

  it('holds the packages of the bill of materials, in the same versions', async () => {
    const { stdout } = await run(process.execPath, ['deploy/sbom.mjs'], { cwd: root });
    const named = JSON.parse(stdout).components as { name: string; version: string }[];
    const known = new Set(named.map((each) => `${each.name}@${each.version}`));
    const held = readdirSync(join(unpacked, 'node_modules'), { recursive: true, encoding: 'utf8' })
      .filter((path) => /(^|node_modules\/)(@[^/]+\/)?[^/@]+\/package\.json$/.test(path))
      .filter((path) => !path.startsWith('@freshet/'))
      .map((path) => JSON.parse(readFileSync(join(unpacked, 'node_modules', path), 'utf8')))
      .map(({ name, version: held }) => `${name}@${held}`);
    expect(held.length).toBeGreaterThan(50);
    expect(held.filter((each) => !known.has(each))).toEqual([]);
  });

  it('says nothing of the machine that it was packed on', async () => {
    const seen = await run('grep', ['-rlF', root, unpacked]).catch(({ code }) => code);
    expect(seen, 'grep finds nothing').toBe(1);
  });

  it('works where it was unpacked, as do the services', async () => {
    const { bin } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'));
    const freshet = join(unpacked, bin.freshet);
    expect((await packed(freshet, '--version')).stdout).toBe(`${version}\n`);
    const manifests = await packed(freshet, 'topics', '--dry-run', '--as', 'strimzi');
    expect(manifests.stdout).toMatch(/^apiVersion: kafka\.strimzi\.io/);
    const rows = Array.from({ length: 60 }, (_, nth) => `u${nth % 7},i${nth % 11},5,${nth + 1}`);
    writeFileSync(join(folder, 'ratings.csv'), `${rows.join('\n')}\n`);
    const few = ['--train', '40', '--test', '20', '--passes', '1', '--baselines', 'none'];
    const replay = await packed(freshet, 'evaluate', 'dynamic', '--ratings', 'ratings.csv', ...few);
    expect(replay.stdout).toContain('60 ratings, 7 users, 11 items');
    for (const service of ['aggregator', 'updater', 'scorer', 'console']) {
      const { stdout } = await packed(join(unpacked, `services/${service}/dist/main.js`), '--help');
      expect(stdout).toContain('--kafka-brokers');
    }
  });

  it('is linked for npx in a checkout', () => {
    expect(readdirSync(join(root, 'node_modules/.bin'))).toContain('freshet');
  });
});

it('is not audited without a network, and says so in one line', async () => {
  const away = { npm_config_registry: 'http://127.0.0.1:1', npm_config_fetch_retries: '0' };
  const env = { ...process.env, ...away };
  const audit = run(process.execPath, ['deploy/audit.mjs'], { cwd: root, env });
  const line =
    'freshet: nothing was audited: the package registry cannot be reached: check the network\n';
  await expect(audit).rejects.toMatchObject({ code: 1, stdout: '', stderr: line });
});

it('is set up under another Node too, which `npx -p node@24 npm test` fetches', async () => {
  const env = { ...process.env, npm_config_package: 'node@24' };
  await run(process.execPath, ['deploy/setup.mjs', 'test'], { cwd: root, env });
});

it('installs whatever a user has told npm, and says what failed where npm is silent', async () => {
  const shown = "import('./deploy/npx.mjs').then((m) => console.log(m.npxEnvironment()))";
  const told = { npm_config_loglevel: 'silent', npm_config_engine_strict: 'true' };
  const env = { ...process.env, ...told };
  const { stdout } = await run(process.execPath, ['-e', shown], { cwd: root, env });
  expect(stdout).toContain('PATH');
  expect(stdout).not.toContain('loglevel');
  // Packages for the tests, and one of fastify's, ask for Node 22 and run on 20.
  expect(stdout).toContain("npm_config_engine_strict: 'false'");
});
