/** Builds an earlier commit of this repository, once, and keeps the build in the cache folder. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder } from '@freshet/config';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** False in a shallow clone that does not reach back so far, and where there is no git. */
export function hasCommit(commit: string): boolean {
  try {
    const args = ['cat-file', '-e', `${commit}^{commit}`];
    execFileSync('git', args, { cwd: repository, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The folder of the build. It is installed and built by its own files, as its users did it. */
export async function buildOf(commit: string): Promise<string> {
  const kept = join(cacheFolder(), 'builds', commit);
  if (existsSync(kept)) return kept;
  mkdirSync(join(cacheFolder(), 'builds'), { recursive: true });
  const folder = mkdtempSync(`${kept}.partial-`);
  try {
    const archive = join(folder, 'source.tar');
    await run('git', ['archive', '--output', archive, commit], { cwd: repository });
    await run('tar', ['-xf', archive, '-C', folder]);
    rmSync(archive);
    await run(process.execPath, ['deploy/setup.mjs', 'cli'], { cwd: folder });
    renameSync(folder, kept);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return kept;
}
