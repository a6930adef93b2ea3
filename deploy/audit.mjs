// Asks the package registry for known vulnerabilities of what runs. Many registries that companies
// run have no such service: then this says so in one line.
import { spawnSync } from 'node:child_process';
import { manifestOf, root } from './layout.mjs';
import { npxEnvironment } from './npx.mjs';

const { status, stdout, stderr } = spawnSync(
  'npx',
  ['--yes', manifestOf('.').packageManager, 'audit', '--prod', ...process.argv.slice(2)],
  { cwd: root, env: npxEnvironment(), encoding: 'utf8' },
);
const [, code] = /ERR_PNPM_AUDIT_BAD_RESPONSE.*?responded with (\d+)/s.exec(stdout + stderr) ?? [];
if (code === undefined) {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = status ?? 1;
} else {
  process.stderr.write(
    `freshet: nothing was audited: the package registry does not offer audits (it answered ${code}). ` +
      'Set "registry" in .npmrc to one that does, or give what `npm run sbom --silent` prints to a scanner\n',
  );
  process.exitCode = 1;
}
