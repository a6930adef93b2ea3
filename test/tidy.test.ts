/** Tidiness is an ordinary test: the rules that matter are executed. */
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { referencePage } from '../packages/cli/src/reference.ts';
import { isKnownCommand, mayBeCommand } from './tidy/commands.ts';
import { deadExports } from './tidy/dead-exports.ts';
import { longFiles, longFunctions, unusedExports, wideFolders } from './tidy/exceptions.ts';
import { brokenLinks, commandsOf, inlineCode, misnamedCode, shellBlocks } from './tidy/pages.ts';
import { syntaxOf } from './tidy/syntax.ts';
import { code, everything, exists, find, owner, pages, read, sources } from './tidy/tree.ts';
import { wideLines } from './tidy/wide-lines.ts';

const LONGEST_FUNCTION = 70;
const LONGEST_FILE = 400;
const manifests = find(/^(packages|services)\/[^/]+\/package\.json$/);

/**
 * What is found against a list of exceptions: a new one is refused, and one that has gone leaves
 * the list.
 */
function expectOnly(found: readonly string[], exceptions: readonly string[]): void {
  const unexpected = found.filter((each) => !exceptions.includes(each));
  const gone = exceptions.filter((each) => !found.includes(each));
  expect({ unexpected, gone }).toEqual({ unexpected: [], gone: [] });
}

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
  'ratings-files': ['events'],
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

/** What a file imports, as the import is written. */
const importsOf = (path: string): string[] => {
  return [...new Set(syntaxOf(path).imports.map(({ specifier }) => specifier))];
};

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
  it(`have at most ${LONGEST_FILE} lines`, () => {
    const long = everything.filter((path) => read(path).split('\n').length > LONGEST_FILE + 1);
    expectOnly(long, longFiles);
  });

  it('have lines of at most 100 columns', () => {
    const wide = find(/\.(ts|mjs|lua|css)$/).flatMap(wideLines);
    const folderOf = (line: string): string =>
      line.split('/').slice(0, 2).join('/').replace(/:.*/, '');
    for (const folder of new Set([...wide.map(folderOf), ...Object.keys(wideFolders)])) {
      const lines = wide.filter((line) => folderOf(line) === folder);
      expect(lines.length, `${folder}: ${lines.join(' ')}`).toBe(wideFolders[folder] ?? 0);
    }
  });

  it(`have functions of at most ${LONGEST_FUNCTION} lines`, () => {
    const all = everything.flatMap((path) => syntaxOf(path).functions);
    const long = all.filter(({ lines }) => lines > LONGEST_FUNCTION);
    expectOnly(
      long.map(({ name }) => name),
      longFunctions,
    );
  });

  it('export only what another file uses', () => {
    expectOnly(deadExports(), unusedExports);
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
      /@ts-(ignore(?!: decorator)|expect-error)|as unknown as|\b(it|test|describe)\.(skip|only|todo)\b/;
    const strays = everything.filter(
      (path) => hushed.test(read(path)) && path !== 'test/tidy.test.ts',
    );
    expect(strays).toEqual([]);
  });
});

describe('documents', () => {
  const scripts = Object.keys(JSON.parse(read('package.json')).scripts);

  it('have a reference page that is made from the tables', () => {
    expect(read('docs/reference.md')).toBe(referencePage());
  });

  it('stay short where they are read first', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(91);
    expect(read('CONTRIBUTING.md').split('\n').length).toBeLessThanOrEqual(61);
  });

  it('link to files and headings that exist', () => {
    expect(brokenLinks()).toEqual([]);
  });

  it('name, in links to a source file, what the file declares', () => {
    expect(misnamedCode()).toEqual([]);
  });

  it('name, for each invariant, a test that exists', () => {
    const rows = [...read('docs/guarantees.md').matchAll(/^\| \d+ \|.*$/gm)].map(([row]) => row);
    expect(rows.length).toBeGreaterThan(10);
    const missing = rows.filter((row) => {
      const [, path = '', test = ''] = /\| `([^`]+)`: (.+) \|$/.exec(row) ?? [];
      if (test === '' || !exists(path)) return true;
      return !["'", '`'].some((quote) => read(path).includes(`${quote}${test}`));
    });
    expect(missing).toEqual([]);
  });

  it('give no command that does not work: a test runs each block, or its mark says why not', () => {
    const mayStand: Record<string, (command: string) => boolean> = {
      '': () => true, // test/integration/documents.test.ts runs it
      docker: (command) => /^(docker|echo) /.test(command),
      kubernetes: (command) => /^(kubectl|helm) /.test(command),
      long: isKnownCommand, // it takes minutes, but it names what there is
    };
    const strays = shellBlocks().flatMap(({ page, line, mark, script }) =>
      commandsOf(script)
        .filter((command) => !mayStand[mark]?.(command))
        .map((command) => `${page}:${line}: ${command}`),
    );
    expect(strays).toEqual([]);
  });

  it('name, in a sentence, commands and options of freshet that exist', () => {
    const strays = inlineCode()
      .filter(({ code }) => !mayBeCommand(code))
      .map(({ page, code }) => `${page}: ${code}`);
    expect(strays).toEqual([]);
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
