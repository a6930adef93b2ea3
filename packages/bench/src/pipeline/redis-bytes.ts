/** How much of Redis do the keys of a pattern take, by Redis's own account? */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What is asked of a server of one's own; on a large one it would keep everybody waiting. */
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
  const { stdout } = await run('redis-cli', ['-u', url, 'eval', SUM, '0', pattern]);
  return Number(stdout);
}
