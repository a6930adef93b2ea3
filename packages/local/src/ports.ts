/** Ports on loopback that nobody uses. */
import { connect, createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';
const NEXT_PORTS = 100;
/**
 * Ports that are given without a preference. The system takes those of outgoing connections from above: one of these
 * could be taken in the seconds between being chosen here and being bound by the server it is for.
 */
const FIRST_PORT = 10_000;
const LAST_PORT = 32_000;
/** Every process begins elsewhere, so that two that choose at the same moment do not choose the same. */
let next = FIRST_PORT + ((process.pid * 61) % (LAST_PORT - FIRST_PORT));

/** `preferred` if it is free, else the next free one; without a preference, any. */
export async function freePort(
  preferred = 0,
  taken: ReadonlySet<number> = new Set(),
): Promise<number> {
  if (preferred === 0) return anyPort();
  return (await firstFree(preferred, preferred + NEXT_PORTS, taken)) ?? anyPort();
}

async function anyPort(): Promise<number> {
  const found = (await firstFree(next, LAST_PORT)) ?? (await firstFree(FIRST_PORT, LAST_PORT));
  if (found === undefined) throw new Error('no port of this machine is free');
  next = found + 1;
  return found;
}

async function firstFree(
  from: number,
  to: number,
  taken: ReadonlySet<number> = new Set(),
): Promise<number | undefined> {
  for (let port = from; port < to; port++) {
    if (taken.has(port)) continue;
    const found = await bindable(port).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') return undefined;
      throw error;
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

function bindable(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(port, LOOPBACK, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? port) : port));
    });
  });
}

export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, LOOPBACK);
    const answer = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => answer(true)).once('error', () => answer(false));
  });
}
