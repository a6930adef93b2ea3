/** Ports on loopback that nobody uses. */
import { connect, createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';
const NEXT_PORTS = 100;

/** `preferred` if it is free, else the next free one; without a preference, any. */
export async function freePort(
  preferred = 0,
  taken: ReadonlySet<number> = new Set(),
): Promise<number> {
  if (preferred === 0) return bindable(0);
  for (let port = preferred; port < preferred + NEXT_PORTS; port++) {
    if (taken.has(port)) continue;
    const found = await bindable(port).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') return undefined;
      throw error;
    });
    if (found !== undefined) return found;
  }
  return bindable(0);
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
