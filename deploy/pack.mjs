// Makes the package `freshet-VERSION.tgz`, with which npx runs the command line anywhere: it holds
// every command, the services that `freshet up` starts, and all that they depend on, in the
// versions of the lockfile. Nothing else is downloaded when it is installed.
//
//   npm run pack -- FOLDER
import { execFileSync } from 'node:child_process';
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
import { dirname, join, resolve, sep } from 'node:path';
import { install, layOut, manifestOf, root } from './layout.mjs';

const STARTED = ['cli', 'aggregator', 'updater', 'scorer', 'console'];
/** What `freshet up` reads beside the packages. */
const POM = 'deploy/kafka/pom.xml';
/** Never run, yet two thirds of the files, which npx would unpack at the first run. */
const NOT_RUN = [
  /(^|\/)\.[^/]+$/,
  /\.(test\.js|[cm]?ts|map|md)$/,
  /^(@[^/]+\/)?[^/]+\/(tests?|docs|examples?|benchmarks?)$/,
];
const LICENCE = /licen[cs]e[^/]*$/i;

const destination = resolve(process.argv[2] ?? root);
const temporary = mkdtempSync(join(tmpdir(), 'freshet-pack-'));
try {
  const target = join(temporary, 'package');
  const folders = layOut(STARTED, target);
  // Flat and copied: npm leaves out of a package all links, those that share a file included.
  install(STARTED, target, ['--config.node-linker=hoisted', '--config.package-import-method=copy']);
  for (const folder of folders) remove(join(target, folder, 'node_modules'));
  prune(join(target, 'node_modules'));
  for (const folder of folders.filter(isLibrary)) linkLibrary(folder, target);
  mkdirSync(dirname(join(target, POM)), { recursive: true });
  cpSync(join(root, POM), join(target, POM));
  cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
  cpSync(join(root, 'packages/cli/README.md'), join(target, 'README.md'));
  writeJson(join(target, 'package.json'), manifest(folders, target));
  mkdirSync(destination, { recursive: true });
  const file = join(destination, `freshet-${manifestOf('.').version}.tgz`);
  // Not by `npm pack`, which does not end where bundled packages depend on each other.
  execFileSync('tar', ['--numeric-owner', '-czf', file, '-C', temporary, 'package']);
  process.stdout.write(`${file}\n`);
} finally {
  remove(temporary);
}

function prune(modules) {
  for (const found of readdirSync(modules, { recursive: true })) {
    const path = found.replaceAll(sep, '/').split('node_modules/').at(-1);
    if (NOT_RUN.some((pattern) => pattern.test(path)) && !LICENCE.test(path)) {
      remove(join(modules, found));
    }
  }
}

function remove(path) {
  rmSync(path, { recursive: true, force: true });
}

function isLibrary(folder) {
  return manifestOf(folder).exports !== undefined;
}

/** npm leaves out links, so a module of that name re-exports what the library exports. */
function linkLibrary(folder, target) {
  const { name, version } = manifestOf(folder);
  const link = join(target, 'node_modules', name);
  mkdirSync(link, { recursive: true });
  writeJson(join(link, 'package.json'), { name, version, type: 'module', exports: './index.js' });
  writeFileSync(join(link, 'index.js'), `export * from '../../../${folder}/dist/index.js';\n`);
}

function manifest(folders, target) {
  const { name, version, description, license, type, engines } = manifestOf('.');
  const direct = folders.flatMap((folder) => Object.keys(manifestOf(folder).dependencies ?? {}));
  const dependencies = Object.fromEntries(
    [...new Set(direct)].sort().map((each) => [each, versionIn(target, each)]),
  );
  return {
    ...{ name, version, description, license, type, engines },
    bin: { freshet: 'packages/cli/bin/freshet.mjs' },
    dependencies,
    bundleDependencies: Object.keys(dependencies),
  };
}

function versionIn(target, name) {
  const path = join(target, 'node_modules', name, 'package.json');
  return JSON.parse(readFileSync(path, 'utf8')).version;
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
