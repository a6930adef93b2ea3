/** Free ports on loopback. */
import { connect, createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';
const NEXT_PORTS = 100;
/** Below the ports of outgoing connections, one of which could be opened before a server binds. */
const FIRST_PORT = 10_000;
const LAST_PORT = 32_000;
const NODE_BUS = 10_000;
/** Each process starts at another port, so that two at the same time do not choose the same one. */
let next = FIRST_PORT + ((process.pid * 61) % (LAST_PORT - FIRST_PORT));

/** The preferred port if it is free, else the next free one; any free port without a preference. */
export async function freePort(preferred = 0, taken?: ReadonlySet<number>): Promise<number> {
  if (preferred === 0) return anyPort();
  return (await firstFree(preferred, preferred + NEXT_PORTS, taken)) ?? anyPort();
}

/** For a node of a Redis Cluster, which also listens on the port that is 10,000 higher. */
export async function freeNodePort(): Promise<number> {
  for (;;) {
    const port = await anyPort(LAST_PORT - NODE_BUS);
    if (await isFree(port + NODE_BUS)) return port;
  }
}

async function anyPort(last = LAST_PORT): Promise<number> {
  const first = FIRST_PORT + ((next - FIRST_PORT) % (last - FIRST_PORT));
  const found = (await firstFree(first, last)) ?? (await firstFree(FIRST_PORT, last));
  if (found === undefined) throw new Error('no port of this machine is free');
  next = found + 1;
  return found;
}

async function firstFree(from: number, to: number, taken?: ReadonlySet<number>) {
  for (let port = from; port < to; port++) {
    if (!taken?.has(port) && (await isFree(port))) return port;
  }
  return undefined;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen(port, LOOPBACK, () => server.close(() => resolve(true)));
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
