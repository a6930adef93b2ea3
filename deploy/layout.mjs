// Puts into a folder what the image of one service holds: its build, the packages it depends on and
// their production dependencies. The Dockerfile runs this, and so does the test of the images.
// Plain JavaScript without dependencies. Run `deploy/setup.mjs` first.
//
//   node deploy/layout.mjs SERVICE FOLDER
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npxEnvironment } from './npx.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'freshet');

/** The parts of a package that are needed at run time. */
const RUNTIME = ['package.json', 'dist', 'lua', 'schemas'];
/** The files that pnpm needs to install the versions of the lockfile. */
const INSTALL = ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml', '.npmrc'];

const [service, target] = process.argv.slice(2);
if (service === undefined || target === undefined) stop('usage: layout.mjs SERVICE FOLDER');
if (existsSync(target)) stop(`${target} exists already: name a folder that does not exist`);
const main = folderOf(service);

mkdirSync(target, { recursive: true });
for (const name of INSTALL) cpSync(join(root, name), join(target, name));
for (const folder of withDependencies(main)) copyPackage(folder);
install();
// Every image has its service at the same path, so that the same command starts each.
symlinkSync(main, join(target, 'service'));

function folderOf(name) {
  const found = [`services/${name}`, `packages/${name}`].find((path) =>
    existsSync(join(root, path)),
  );
  return found ?? stop(`"${name}" is neither in services/ nor in packages/: name one that is`);
}

/** The folders of a package and of all workspace packages that it depends on, its own first. */
function withDependencies(folder, seen = new Set()) {
  if (seen.has(folder)) return seen;
  seen.add(folder);
  const { dependencies = {} } = JSON.parse(
    readFileSync(join(root, folder, 'package.json'), 'utf8'),
  );
  for (const name of Object.keys(dependencies).filter((each) => each.startsWith('@freshet/'))) {
    withDependencies(folderOf(name.slice('@freshet/'.length)), seen);
  }
  return seen;
}

function copyPackage(folder) {
  if (!existsSync(join(root, folder, 'dist'))) stop(`${folder} is not built: run deploy/setup.mjs`);
  for (const name of RUNTIME.filter((each) => existsSync(join(root, folder, each)))) {
    const filter = (path) => !path.endsWith('.d.ts');
    cpSync(join(root, folder, name), join(target, folder, name), { recursive: true, filter });
  }
}

/** Installs from the pnpm store that setup.mjs has filled, without the network. */
function install() {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const store = ['--store-dir', join(cache, 'pnpm-store'), '--offline', '--loglevel', 'error'];
  const wanted = ['--prod', '--frozen-lockfile', '--filter', `@freshet/${service}...`];
  const env = { ...npxEnvironment(), CI: 'true', XDG_STATE_HOME: join(cache, 'state') };
  const args = ['--yes', packageManager, 'install', ...wanted, ...store];
  execFileSync('npx', args, { cwd: target, env, stdio: ['ignore', 'inherit', 'inherit'] });
  for (const name of INSTALL) rmSync(join(target, name));
}

function stop(message) {
  process.stderr.write(`freshet: ${message}\n`);
  process.exit(1);
}
