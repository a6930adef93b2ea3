import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultLagCurve } from '@freshet/quality';
import { afterAll, describe, expect, it } from 'vitest';
import { readLagCurve } from './read-lag-curve.ts';

const folder = mkdtempSync(join(tmpdir(), 'lag-curve-'));
const path = join(folder, 'curve.json');
afterAll(() => rmSync(folder, { recursive: true }));

describe('the lag curve of the operator', () => {
  it('is the one that ships unless a file is named', () => {
    expect(readLagCurve('')).toBe(defaultLagCurve);
  });

  it('is read from the file', () => {
    const own = { format: 1, source: 'ours', points: [{ lag: 5, loss: 0.2, lossCold: 0.1 }] };
    writeFileSync(path, JSON.stringify(own));
    expect(readLagCurve(path)).toEqual(own);
  });

  it('is refused with the setting, the file and the reason', () => {
    writeFileSync(path, '{"format": 1, "points": [');
    expect(() => readLagCurve(path)).toThrow(`cannot use the lag curve in ${path} (LAG_CURVE): `);
    writeFileSync(path, '{"format": 2}');
    expect(() => readLagCurve(path)).toThrow('not a lag curve');
    expect(() => readLagCurve(join(folder, 'none'))).toThrow(/LAG_CURVE.*ENOENT/);
  });
});
