// Installs the dependencies and builds the workspace, as far as that has not been done. Plain
// JavaScript without dependencies, because it is what installs them.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cache, manifestOf, root } from './layout.mjs';
import { impatient, npxEnvironment } from './npx.mjs';

const manifest = manifestOf('.');
const started = performance.now();

const DISK_FULL = 'the disk is full; free some space';

process.on('uncaughtException', (error) => {
  stop(error.code === 'ENOSPC' ? DISK_FULL : `set-up failed: ${error.message}`);
});
requireNode();
await installDependencies();
await step('build', 'first time about 5 s', 'npx', ['--no-install', 'tsc', '-b']);
await step('kernels', 'first time about 5 s', process.execPath, ['packages/kernels/build.mjs']);
await step('page', 'first time about 2 s', process.execPath, ['services/console/build.mjs']);

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

/** Runs one command. Prints what it does only if it takes longer than a second. */
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
  if (failure) stop(`${what} failed: ${causeOf(failure, what)}`);
}

/** Resolves to the output of the command if it failed, else to undefined. */
function run(command, args) {
  const env = {
    ...impatient(npxEnvironment()),
    CI: 'true',
    // pnpm would keep its state in the home folder; this puts it into our cache folder.
    XDG_STATE_HOME: join(cache, 'state'),
  };
  const options = { cwd: root, env, maxBuffer: 64 << 20 };
  return new Promise((resolve) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      resolve(error ? `${stdout}\n${stderr}\n${error.message}` : undefined);
    });
  });
}

/** The cause of a failure in one line. The whole output is written to a file. */
function causeOf(output, what) {
  if (/ENOSPC|EDQUOT|No space left on device/i.test(output)) return DISK_FULL;
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT/.test(output)) {
    return 'packages cannot be downloaded: check the network and start again';
  }
  const lines = output.split('\n').filter((line) => !/^\s*$|^npm warn/i.test(line));
  const told = lines.find((line) => /error|ERR_/i.test(line)) ?? lines[0] ?? 'no reason given';
  const file = join('.setup', `${what}.log`);
  mkdirSync(join(root, '.setup'), { recursive: true });
  writeFileSync(join(root, file), output);
  return `${told.trim()} (the whole output is in ${file})`;
}

function stop(message) {
  const seconds = Math.round((performance.now() - started) / 1000);
  process.stderr.write(`freshet: ${message} (after ${seconds} s)\n`);
  process.exit(1);
}
