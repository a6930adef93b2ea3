// Asks the package registry for known vulnerabilities of what runs. Many registries that companies
// run have no such service: then this says so in one line.
import { spawnSync } from 'node:child_process';
import { manifestOf, root } from './layout.mjs';
import { impatient, npxEnvironment } from './npx.mjs';

const { status, stdout, stderr } = spawnSync(
  'npx',
  ['--yes', manifestOf('.').packageManager, 'audit', '--prod', ...process.argv.slice(2)],
  { cwd: root, env: impatient(npxEnvironment()), encoding: 'utf8' },
);
const cause = causeOf(stdout + stderr);
if (status === 0 || cause === undefined) {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = status ?? 1;
} else {
  process.stderr.write(`freshet: nothing was audited: ${cause}\n`);
  process.exitCode = 1;
}

function causeOf(output) {
  const [, code] = /ERR_PNPM_AUDIT_BAD_RESPONSE.*?responded with (\d+)/s.exec(output) ?? [];
  if (code !== undefined) {
    return (
      `the package registry does not offer audits (it answered ${code}). ` +
      'Set "registry" in .npmrc to one that does, or give what `npm run sbom --silent` prints to a scanner'
    );
  }
  const away = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT/.test(output);
  return away ? 'the package registry cannot be reached: check the network' : undefined;
}
