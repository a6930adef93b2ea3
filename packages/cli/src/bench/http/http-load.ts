/**
 * Asks a server as fast as it answers, over connections that stay open. Bare sockets: a client that costs
 * more than the server would measure itself.
 */
import { connect, type Socket } from 'node:net';

const CONNECTIONS = 16;

export interface Load {
  readonly ratePerSecond: number;
  /** Of every answer, ms. */
  readonly latencies: number[];
}

export async function httpLoad(
  port: number,
  pathOf: (nth: number) => string,
  durationMs: number,
): Promise<Load> {
  const latencies: number[] = [];
  const began = performance.now();
  const until = began + durationMs;
  let asked = 0;
  const clients = Array.from({ length: CONNECTIONS }, async () => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    try {
      while (performance.now() < until) {
        const sent = performance.now();
        await exchange(socket, pathOf(asked++));
        latencies.push(performance.now() - sent);
      }
    } finally {
      socket.destroy();
    }
  });
  await Promise.all(clients);
  return { ratePerSecond: (latencies.length / (performance.now() - began)) * 1_000, latencies };
}

/** One request, one answer of status 200. */
function exchange(socket: Socket, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    const finish = (error?: Error) => {
      socket.off('data', read).off('error', finish).off('close', closed);
      if (error) reject(error);
      else resolve();
    };
    const closed = () => finish(new Error('the server closed the connection'));
    const read = (bytes: Buffer) => {
      text += bytes.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < head + 4 + length) return;
      if (text.startsWith('HTTP/1.1 200')) finish();
      else finish(new Error(text.slice(0, 200)));
    };
    socket.on('data', read).on('error', finish).on('close', closed);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\n\r\n`);
  });
}
