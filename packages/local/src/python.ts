/** A Python with packages from PyPI, for benches that compare with it and tests of examples. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { explained } from './cause.ts';
import { onPath } from './on-path.ts';
import { dataFolder } from './provision.ts';
import { SetupProblem } from './steps.ts';

const run = promisify(execFile);
const LIMIT_MS = 300_000;

/**
 * The path of a Python that can import these modules; their packages are installed the first time.
 * It is an environment of its own in the cache folder: the machine's own Python stays as it is.
 */
export async function pythonWith(
  name: string,
  packages: Readonly<Record<string, string>>,
): Promise<string> {
  if (!onPath('python3')) throw new SetupProblem('python3 is missing: install Python 3');
  const folder = join(dataFolder(), name);
  const python = join(folder, 'bin', 'python');
  const options = { timeout: LIMIT_MS };
  const isThere = await run(python, ['-c', `import ${Object.values(packages).join()}`]).then(
    () => true,
    () => false,
  );
  if (isThere) return python;
  const what = `${Object.keys(packages).join(', ')} cannot be installed from PyPI`;
  // Begins anew, because an installation that was interrupted may have left half of one.
  await explained(what, run('python3', ['-m', 'venv', '--clear', folder], options));
  const install = ['-m', 'pip', 'install', '-q', ...Object.keys(packages)];
  await explained(what, run(python, install, options));
  return python;
}
