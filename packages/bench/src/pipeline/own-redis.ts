/** What a bench asks of its own Redis beside the store. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

async function ask(url: string, ...command: readonly string[]): Promise<string> {
  return (await run('redis-cli', ['-u', url, ...command])).stdout;
}

export async function redisInfo(url: string, section: string, name: string): Promise<number> {
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(await ask(url, 'info', section))?.[1]);
}

/** Stops the append-only file, which Redis rewrites at times in a process as large as itself. */
export async function keepInMemory(url: string): Promise<void> {
  await ask(url, 'config', 'set', 'appendonly', 'no');
}

/** Blocks Redis while it scans all keys, so this is only for a server of the bench's own. */
const SUM = `
local sum, cursor = 0, '0'
repeat
  local page = redis.call('SCAN', cursor, 'MATCH', ARGV[1], 'COUNT', 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do
    sum = sum + redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0)
  end
until cursor == '0'
return sum`;

export async function redisBytes(url: string, pattern: string): Promise<number> {
  return Number(await ask(url, 'eval', SUM, '0', pattern));
}
