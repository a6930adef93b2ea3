/**
 * A free port is bound some seconds after it was chosen, and another `freshet up` that starts
 * meanwhile would choose the same one. So each port is claimed by a file whose name holds the
 * process id. A claim counts while that process runs.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, processIdentity } from '@freshet/local';

export class PortClaims {
  readonly #taken = new Set<number>();
  readonly #releases: (() => void)[] = [];

  /** Claims the preferred port, or the next free one if another process has it. */
  async choose(preferred: number): Promise<number> {
    for (;;) {
      const port = await freePort(preferred, this.#taken);
      this.#taken.add(port);
      const release = claimPort(port);
      if (release === undefined) continue;
      this.#releases.push(release);
      return port;
    }
  }

  async close(): Promise<void> {
    for (const release of this.#releases.splice(0)) release();
  }
}

/**
 * Returns the function that releases the claim; undefined if another process has claimed the port.
 */
export function claimPort(
  port: number,
  folder = tmpdir(),
  pid = process.pid,
): (() => void) | undefined {
  const prefix = `freshet-port-${port}-`;
  const own = `${prefix}${pid}`;
  const release = () => rmSync(join(folder, own), { force: true });
  // The claim is written before others are looked for: of two processes at once, at least one sees
  // the other.
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
