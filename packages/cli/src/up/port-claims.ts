/**
 * A free port is bound some seconds after it was chosen. Until then another `freshet up` would
 * choose it too, so a file claims it whose name holds the process id, while that process runs.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, processIdentity } from '@freshet/local';

export class PortClaims {
  readonly #taken = new Set<number>();
  readonly #claimed: string[] = [];

  constructor(
    readonly folder = tmpdir(),
    readonly pid = process.pid,
  ) {}

  /** Claims the preferred port, or the next free one if another process has it. */
  async choose(preferred: number): Promise<number> {
    for (;;) {
      const port = await freePort(preferred, this.#taken);
      this.#taken.add(port);
      if (this.claim(port)) return port;
    }
  }

  /** False if another process has claimed the port. */
  claim(port: number): boolean {
    const prefix = `freshet-port-${port}-`;
    const own = `${prefix}${this.pid}`;
    // Written before others are looked for: of two processes at once, at least one sees the other.
    writeFileSync(join(this.folder, own), '');
    const others = readdirSync(this.folder).filter(
      (name) => name.startsWith(prefix) && name !== own,
    );
    const rivals = others.filter((name) => {
      const isAlive = processIdentity(Number(name.slice(prefix.length))) !== undefined;
      if (!isAlive) this.#release(name);
      return isAlive;
    });
    if (rivals.length === 0) this.#claimed.push(own);
    else this.#release(own);
    return rivals.length === 0;
  }

  async close(): Promise<void> {
    for (const own of this.#claimed.splice(0)) this.#release(own);
  }

  #release(name: string): void {
    rmSync(join(this.folder, name), { force: true });
  }
}
