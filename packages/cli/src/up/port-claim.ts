/**
 * A free port is bound seconds after it was chosen: another `freshet up` that starts meanwhile would choose the
 * same. So it is claimed by a file with the process in its name, which counts as long as that process runs.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processIdentity } from '@freshet/local';

/** What gives the claim back; undefined if the port is another's. */
export function claimPort(
  port: number,
  folder = tmpdir(),
  pid = process.pid,
): (() => void) | undefined {
  const prefix = `freshet-port-${port}-`;
  const own = `${prefix}${pid}`;
  const release = () => rmSync(join(folder, own), { force: true });
  // First claimed, then looked at who else has: of two at once at least one sees the other.
  writeFileSync(join(folder, own), '');
  const others = readdirSync(folder).filter((name) => name.startsWith(prefix) && name !== own);
  const rivals = others.filter((name) => {
    const isAlive = processIdentity(Number(name.slice(prefix.length))) !== undefined;
    if (!isAlive) rmSync(join(folder, name), { force: true });
    return isAlive;
  });
  if (rivals.length === 0) return release;
  release();
  return undefined;
}
