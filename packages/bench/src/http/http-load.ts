/**
 * Asks a server as fast as it answers, with one request in flight on each connection. Bare sockets
 * without promises, because a client that costs more than the server would measure itself.
 */
import { connect } from 'node:net';

/** Enough that the server is never without a request while the client reads answers. */
const BUSY_CONNECTIONS = 64;
const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = Buffer.from('content-length: ');
const OK = Buffer.from('HTTP/1.1 200');

export interface Load {
  readonly ratePerSecond: number;
  /** Of every answer, ms. */
  readonly latencies: number[];
}

/** `pauseMs`: between an answer and the next request of the same connection. */
export async function httpLoad(
  port: number,
  pathOf: (nth: number) => string,
  durationMs: number,
  { connections, pauseMs } = { connections: BUSY_CONNECTIONS, pauseMs: 0 },
): Promise<Load> {
  const latencies: number[] = [];
  const began = performance.now();
  const until = began + durationMs;
  let asked = 0;
  const next = () => (performance.now() < until ? pathOf(asked++) : undefined);
  const clients = Array.from({ length: connections }, () =>
    converse(port, next, pauseMs, latencies),
  );
  await Promise.all(clients);
  return { ratePerSecond: (latencies.length / (performance.now() - began)) * 1_000, latencies };
}

/** One connection: requests the paths of `next` until it returns none, and notes each latency. */
function converse(
  port: number,
  next: () => string | undefined,
  pauseMs: number,
  latencies: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    let sentAt = 0;
    let pending: Buffer | undefined;
    const end = (error?: Error) => {
      socket.removeAllListeners('close').destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    const ask = () => {
      const path = next();
      if (path === undefined) return end();
      sentAt = performance.now();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`, 'latin1');
    };
    socket.on('data', (bytes: Buffer) => {
      const all = pending === undefined ? bytes : Buffer.concat([pending, bytes]);
      const length = answerLength(all);
      pending = all.length < length ? all : undefined;
      if (pending !== undefined) return;
      if (!all.subarray(0, OK.length).equals(OK)) return end(new Error(all.toString('latin1')));
      latencies.push(performance.now() - sentAt);
      if (pauseMs === 0) ask();
      else setTimeout(ask, pauseMs);
    });
    socket.once('connect', ask).once('error', end);
    socket.once('close', () => end(new Error('the server closed the connection')));
  });
}

/** The length of head and body; infinite while the head is incomplete. */
function answerLength(bytes: Buffer): number {
  const headEnd = bytes.indexOf(HEAD_END);
  const at = bytes.indexOf(LENGTH);
  if (headEnd < 0 || at < 0) return Number.POSITIVE_INFINITY;
  return (
    headEnd +
    HEAD_END.length +
    Number.parseInt(bytes.toString('latin1', at + LENGTH.length, headEnd), 10)
  );
}
