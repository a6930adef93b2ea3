/** Which curve tells lag as loss? The operator's own, from a file, or the one that ships. */
import { readFileSync } from 'node:fs';
import { defaultLagCurve, type LagCurve, parseLagCurve } from '@freshet/quality';

/** Throws with the setting, the file and what is wrong with it: a service must not start on half a curve. */
export function readLagCurve(path: string): LagCurve {
  if (path === '') return defaultLagCurve;
  try {
    return parseLagCurve(readFileSync(path, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot use the lag curve in ${path} (LAG_CURVE): ${reason}`, { cause: error });
  }
}
