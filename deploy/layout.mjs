// What runs, in a folder of its own: the builds of services or of the command line, the packages
// that they depend on, and their production dependencies. Images and the package of the command
// line are made of it. Plain JavaScript without dependencies.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npxEnvironment } from './npx.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'freshet');

/** The parts of a package that are needed at run time. */
const RUNTIME = ['package.json', 'bin', 'dist', 'lua', 'schemas'];
/** The files that pnpm needs to install the versions of the lockfile. */
const INSTALL = ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml', '.npmrc'];

export const manifestOf = (folder) =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));

export function folderOf(name) {
  const found = [`services/${name}`, `packages/${name}`].find((path) =>
    existsSync(join(root, path)),
  );
  return found ?? stop(`"${name}" is neither in services/ nor in packages/: name one that is`);
}

/** Copies the builds of what is named and of all that it depends on; returns their folders. */
export function layOut(names, target) {
  if (existsSync(target)) stop(`${target} exists already: name a folder that does not exist`);
  const folders = new Set();
  for (const name of names) withDependencies(folderOf(name), folders);
  mkdirSync(target, { recursive: true });
  for (const folder of folders) copyPackage(folder, target);
  return [...folders];
}

/** The folders of a package and of all workspace packages that it depends on, its own first. */
function withDependencies(folder, seen) {
  if (seen.has(folder)) return;
  seen.add(folder);
  const { dependencies = {} } = manifestOf(folder);
  for (const name of Object.keys(dependencies).filter((each) => each.startsWith('@freshet/'))) {
    withDependencies(folderOf(name.slice('@freshet/'.length)), seen);
  }
}

function copyPackage(folder, target) {
  if (!existsSync(join(root, folder, 'dist'))) stop(`${folder} is not built: run deploy/setup.mjs`);
  for (const name of RUNTIME.filter((each) => existsSync(join(root, folder, each)))) {
    const filter = (path) => !/\.(d\.ts|tsbuildinfo|sha256)$/.test(path);
    cpSync(join(root, folder, name), join(target, folder, name), { recursive: true, filter });
  }
  // Of a checkout that was made under a strict umask, the user of an image could read nothing.
  execFileSync('chmod', ['-R', 'a+rX', join(target, folder)]);
}

/** Installs from the pnpm store that setup.mjs has filled, without the network. */
export function install(names, target, options = []) {
  for (const name of INSTALL) cpSync(join(root, name), join(target, name));
  const { packageManager } = manifestOf('.');
  const store = ['--store-dir', join(cache, 'pnpm-store'), '--offline', '--loglevel', 'error'];
  const filters = names.flatMap((name) => ['--filter', `@freshet/${name}...`]);
  const wanted = ['--prod', '--frozen-lockfile', ...filters, ...options];
  const env = { ...npxEnvironment(), CI: 'true', XDG_STATE_HOME: join(cache, 'state') };
  const args = ['--yes', packageManager, 'install', ...wanted, ...store];
  execFileSync('npx', args, { cwd: target, env, stdio: ['ignore', 'inherit', 'inherit'] });
  for (const name of INSTALL) rmSync(join(target, name));
}

export function stop(message) {
  process.stderr.write(`freshet: ${message}\n`);
  process.exit(1);
}
