import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { processIdentity } from './process-identity.ts';

describe('the identity of a process', () => {
  it('stays the same while it runs and is nobody’s once it has ended', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await once(child, 'spawn');
    const pid = child.pid ?? 0;
    const identity = processIdentity(pid);
    expect(identity).toBeTypeOf('string');
    expect(processIdentity(pid)).toBe(identity);
    expect(identity).not.toBe(processIdentity(process.pid));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(processIdentity(pid)).toBeUndefined();
  });

  it('is undefined where there is no process', () => {
    expect(processIdentity(2 ** 22 + 1)).toBeUndefined();
  });
});
