import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stepsTo } from '@freshet/local';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { goProgram } from './deploy/go-program.ts';

const wanted = { name: 'tool', source: 'tool.example/cmd/tool', version: '1.2.3' };

describe('a program that comes as Go source', () => {
  let folder: string;
  let bin: string;
  let told = '';
  const steps = stepsTo((text) => {
    told += text;
  });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'freshet-go-'));
    bin = join(folder, 'bin');
    mkdirSync(bin);
    told = '';
    vi.stubEnv('PATH', bin);
    vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  const install = (name: string, script: string): void =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

  it('is compiled once, and nothing else is kept', async () => {
    install('go', 'echo "$@" > "$GOBIN/tool"');
    const path = await goProgram(wanted, steps);
    expect(readFileSync(path, 'utf8')).toMatch(/^install .* tool\.example\/cmd\/tool@v1\.2\.3\n$/);
    expect(readdirSync(join(folder, 'cache', 'freshet'))).toEqual(['tool-1.2.3']);
    expect(told).toContain('tool 1.2.3 from its source (first time only');
    install('go', 'exit 1');
    expect(await goProgram(wanted, steps)).toBe(path);
  });

  it('is not compiled if it is on the machine already', async () => {
    install('tool', '');
    expect(await goProgram(wanted, steps)).toBe('tool');
  });

  it('cannot be had without Go, which is said with what to install', async () => {
    await expect(goProgram(wanted, steps)).rejects.toThrow(
      'tool is missing: install it, or install Go',
    );
  });

  it('that cannot be compiled is told with the reason, and leaves nothing behind', async () => {
    install('go', 'echo "error: requires go >= 1.30" >&2; exit 1');
    await expect(goProgram(wanted, steps)).rejects.toThrow(
      'Go could not compile tool: error: requires go >= 1.30',
    );
    expect(readdirSync(join(folder, 'cache', 'freshet'))).toEqual([]);
  });
});
