import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PortClaims } from './port-claims.ts';

describe('a claim on a port', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'freshet-claims-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('keeps others away until it is given back', async () => {
    const own = new PortClaims(folder);
    const others = new PortClaims(folder, process.ppid);
    expect(own.claim(7)).toBe(true);
    expect(others.claim(7)).toBe(false);
    expect(others.claim(70)).toBe(true);
    await own.close();
    expect(others.claim(7)).toBe(true);
  });

  it('ends with the process that made it', () => {
    writeFileSync(join(folder, `freshet-port-7-${2 ** 30}`), '');
    expect(new PortClaims(folder).claim(7)).toBe(true);
    expect(readdirSync(folder)).toEqual([`freshet-port-7-${process.pid}`]);
  });
});
