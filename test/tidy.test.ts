/** Tidiness is an ordinary test: the rules that matter are executed. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { referencePage } from '../packages/cli/src/reference.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const tree = ['packages', 'services', 'test', 'deploy', 'docs']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
      join(folder, path),
    ),
  )
  .concat(readdirSync(root))
  .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path))
  .sort();
const find = (pattern: RegExp): string[] => tree.filter((path) => pattern.test(path));

const sources = find(/^(packages|services)\/[^/]+\/src\/.*\.ts$/);
const code = sources.filter((path) => !path.endsWith('.test.ts'));
const everything = [...sources, ...find(/^test\/.*\.ts$/), ...find(/^(packages|deploy)\/.*\.mjs$/)];
const manifests = find(/^(packages|services)\/[^/]+\/package\.json$/);
const owner = (path: string): string => path.split('/')[1] ?? '';

/** A package may import only what its row names. */
const clients = ['events', 'store', 'stream', 'telemetry'];
const system = [...clients, 'config', 'positions', 'service', 'session'];
const service = [...system, 'kernels', 'model', 'replicas'];
const mayImport: Record<string, readonly string[]> = {
  kernels: [],
  events: [],
  config: [],
  telemetry: [],
  service: ['telemetry'],
  'ratings-files': [],
  client: [],
  model: ['kernels'],
  quality: ['kernels', 'model'],
  experiments: ['kernels', 'model', 'ratings-files'],
  store: ['events', 'telemetry'],
  stream: ['events', 'telemetry'],
  local: ['config'],
  replicas: [...clients, 'kernels', 'model'],
  positions: clients,
  session: [...clients, 'config', 'model', 'service'],
  testkit: [...system, 'local', 'model'],
  cli: [...service, 'experiments', 'local', 'quality', 'ratings-files'],
  bench: [...service, 'experiments', 'local', 'quality', 'ratings-files'],
  updater: [...service, 'quality'],
  aggregator: [...service, 'quality'],
  scorer: service,
  console: system,
};

/** A client library is known to one package only, so that it can be replaced there. */
const keptIn: Record<string, string> = {
  avsc: 'events',
  kafkajs: 'stream',
  ioredis: 'store',
  'prom-client': 'telemetry',
};

function importsOf(path: string): string[] {
  const pattern = /(?:from|import)\s*\(?\s*'([^']+)'/g;
  return [...read(path).matchAll(pattern)].map(([, target]) => target ?? '');
}

describe('the dependency rule', () => {
  it('lets packages import only downwards', () => {
    const strays = code.flatMap((path) =>
      importsOf(path)
        .filter((target) => target.startsWith('@freshet/'))
        .map((target) => ({ path, to: target.slice('@freshet/'.length) }))
        .filter(({ to }) => !mayImport[owner(path)]?.includes(to)),
    );
    expect(strays).toEqual([]);
  });

  it('keeps each client library in one package', () => {
    const strays = code.flatMap((path) =>
      importsOf(path)
        .filter((target) => target in keptIn && keptIn[target] !== owner(path))
        .map((target) => `${path}: ${target}`),
    );
    expect(strays).toEqual([]);
  });

  it('is written the same in package.json and tsconfig.json', () => {
    for (const path of manifests) {
      const own = Object.keys(JSON.parse(read(path)).dependencies ?? {})
        .filter((name) => name.startsWith('@freshet/'))
        .map((name) => name.slice('@freshet/'.length));
      const config = JSON.parse(read(join(dirname(path), 'tsconfig.json')));
      const references: { path: string }[] = config.references ?? [];
      expect(references.map((reference) => basename(reference.path)).sort(), path).toEqual(
        own.sort(),
      );
    }
  });
});

describe('files', () => {
  it('stay below 400 lines', () => {
    const long = everything.filter((path) => read(path).split('\n').length > 400);
    expect(long).toEqual([]);
  });

  it('begin by saying what they are for', () => {
    const silent = code.filter(
      (path) => basename(path) !== 'index.ts' && !/^(\/\*\*|\/\/)/.test(read(path)),
    );
    expect(silent).toEqual([]);
  });

  it('are named after a thing, not after a kind of syntax', () => {
    const vague = /^(utils?|helpers?|types?|common|constants?|misc)\.ts$/;
    expect(sources.filter((path) => vague.test(basename(path)))).toEqual([]);
  });

  it('export names one by one', () => {
    expect(sources.filter((path) => /^export \*/m.test(read(path)))).toEqual([]);
  });

  it('are all used', () => {
    const named = everything.map((path) => read(path)).join('\n');
    const unused = code.filter((path) => {
      const name = basename(path);
      if (name === 'index.ts' || name === 'main.ts') return false;
      return !named.includes(`/${name}'`) && !named.includes(`/${name.replace(/ts$/, 'js')}'`);
    });
    expect(unused).toEqual([]);
  });

  it('read the environment in packages/config alone', () => {
    const strays = code.filter(
      (path) => owner(path) !== 'config' && /process\.env/.test(read(path)),
    );
    expect(strays).toEqual([]);
  });

  it('hush neither the compiler nor a test', () => {
    const hushed =
      /@ts-(ignore|expect-error)|as unknown as|\b(it|test|describe)\.(skip|only|todo)\b/;
    const strays = everything.filter(
      (path) => hushed.test(read(path)) && path !== 'test/tidy.test.ts',
    );
    expect(strays).toEqual([]);
  });
});

describe('documents', () => {
  const pages = find(/^([^/]+|docs\/.*|services\/[^/]+\/README)\.md$/);
  const scripts = Object.keys(JSON.parse(read('package.json')).scripts);

  it('have a reference page that is made from the tables', () => {
    expect(read('docs/reference.md')).toBe(referencePage());
  });

  it('stay short where they are read first', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(91);
    expect(read('CONTRIBUTING.md').split('\n').length).toBeLessThanOrEqual(61);
  });

  it('link to files that exist', () => {
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
        .map(([, target]) => join(dirname(page), target ?? ''))
        .filter((target) => !existsSync(join(root, target)))
        .map((target) => `${page}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('name, for each invariant, a test that exists', () => {
    const rows = read('docs/guarantees.md').matchAll(/^\| \d+ \|.*\| `([^`]+)`(?:: (.+))? \|$/gm);
    const named = [...rows].map(([, path = '', test = '']) => ({ path, test }));
    expect(named.length).toBeGreaterThan(10);
    const missing = named.filter(
      ({ path, test }) => !existsSync(join(root, path)) || !read(path).includes(test),
    );
    expect(missing).toEqual([]);
  });

  it('name scripts that exist', () => {
    const unknown = pages.flatMap((page) =>
      [...read(page).matchAll(/npm run ([a-z:-]+)/g)]
        .filter(([, script]) => !scripts.includes(script ?? ''))
        .map(([found]) => `${page}: ${found}`),
    );
    expect(unknown).toEqual([]);
  });

  it('tell the life of a rating by at most 14 functions, each in the file that it links to', () => {
    const page = read('docs/architecture.md');
    const start = page.indexOf('## The life of one rating');
    const life = page.slice(start, page.indexOf('\n## ', start));
    const named = [...life.matchAll(/\[`([\w.]+)`\]\(([^)]+\.ts)\)/g)];
    expect(named.length).toBeGreaterThan(9);
    expect(named.length).toBeLessThanOrEqual(14);
    const missing = named.filter(([, name = '', path = '']) => {
      const text = read(join('docs', path));
      const [type, method] = name.split('.');
      return method === undefined
        ? !new RegExp(`^export (async )?function ${name}\\b`, 'm').test(text)
        : !new RegExp(`^export class ${type}\\b[^]*^  (async )?${method}[(<]`, 'm').test(text);
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });

  it('say of every package what it is for', () => {
    const page = read('docs/architecture.md');
    const names = manifests.filter((path) => path.startsWith('packages/')).map(owner);
    expect(names.filter((name) => !page.includes(`\n| \`${name}\` | `))).toEqual([]);
  });

  it('tell of every service what it reads, writes and keeps, and what happens when it dies', () => {
    for (const path of find(/^services\/[^/]+\/package\.json$/)) {
      const page = read(join(dirname(path), 'README.md'));
      for (const word of ['Reads', 'Writes', 'State', 'Scales by', 'When it dies']) {
        expect(page, path).toContain(`**${word}**`);
      }
    }
  });
});
