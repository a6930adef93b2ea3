/** What a bench asks of its own Redis beside the store. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A number that Redis tells of itself, as `INFO` names it. */
export async function redisInfo(url: string, section: string, name: string): Promise<number> {
  const { stdout } = await run('redis-cli', ['-u', url, 'info', section]);
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(stdout)?.[1]);
}

/** Without the append-only file: Redis rewrites it from time to time, in a process as large as itself. */
export async function keepInMemory(url: string): Promise<void> {
  await run('redis-cli', ['-u', url, 'config', 'set', 'appendonly', 'no']);
}
