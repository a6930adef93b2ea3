// What has to be there before any code of the workspace can run: dependencies and a build. Plain
// JavaScript without dependencies, because it is what installs them. Does nothing that is done.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'freshet');
const started = performance.now();

requireNode();
await installDependencies();
await step('build', 'first time about 5 s', 'npx', ['--no-install', 'tsc', '-b']);
await step('kernels', 'first time about 5 s', process.execPath, ['packages/kernels/build.mjs']);

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  stop(`Node ${process.versions.node} is too old: install Node ${manifest.engines.node}`);
}

async function installDependencies() {
  const stamp = join(root, 'node_modules', '.freshet-installed');
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'pnpm-lock.yaml')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  const store = ['--store-dir', join(cache, 'pnpm-store')];
  await step('dependencies', 'first time about 30 s', 'npx', [
    '--yes',
    manifest.packageManager,
    'install',
    '--frozen-lockfile',
    ...store,
  ]);
  writeFileSync(stamp, wanted);
}

/** Runs one command; says what it is doing only once it has taken long enough to be asked about. */
async function step(what, expectation, command, args) {
  const begun = performance.now();
  let told = false;
  const teller = setTimeout(() => {
    told = true;
    process.stderr.write(`  ${what} (${expectation}) … `);
  }, 1000);
  const failure = await run(command, args);
  clearTimeout(teller);
  if (told) {
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    process.stderr.write(failure ? 'failed\n' : `${seconds} s\n`);
  }
  if (failure) stop(`${what} failed: ${causeOf(failure)}`);
}

function run(command, args) {
  // pnpm would keep its own state in the home folder: it goes to the cache with everything else.
  const env = { ...process.env, XDG_STATE_HOME: join(cache, 'state'), CI: 'true' };
  const options = { cwd: root, env, maxBuffer: 64 << 20 };
  return new Promise((resolve) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      resolve(error ? `${stdout}\n${stderr}\n${error.message}` : undefined);
    });
  });
}

function causeOf(output) {
  if (/ENOSPC|No space left on device/i.test(output)) return 'the disk is full; free some space';
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(output)) {
    return 'no network to fetch packages from; connect and try again';
  }
  return output.trim();
}

function stop(message) {
  process.stderr.write(
    `freshet: ${message} (after ${Math.round((performance.now() - started) / 1000)} s)\n`,
  );
  process.exit(1);
}
