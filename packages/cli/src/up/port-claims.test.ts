import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimPort } from './port-claims.ts';

describe('a claim on a port', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'freshet-claims-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('keeps others away until it is given back', () => {
    const release = claimPort(7, folder);
    expect(claimPort(7, folder, process.ppid)).toBeUndefined();
    expect(claimPort(70, folder, process.ppid)).toBeDefined();
    release?.();
    expect(claimPort(7, folder, process.ppid)).toBeDefined();
  });

  it('ends with the process that made it', () => {
    writeFileSync(join(folder, `freshet-port-7-${2 ** 30}`), '');
    expect(claimPort(7, folder)).toBeDefined();
    expect(readdirSync(folder)).toEqual([`freshet-port-7-${process.pid}`]);
  });
});
