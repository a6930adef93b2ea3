/**
 * Hostile clients, in a thread of their own so that they do not slow the measuring one down: slow
 * clients that send a byte at a time, and on every tick one of each of the requests below.
 */
import { connect, type Socket } from 'node:net';
import { workerData } from 'node:worker_threads';

const { port } = workerData as { port: number };
const SLOW_CLIENTS = 100;
const DRIBBLE_MS = 200;
const TICK_MS = 200;
const ANSWER_LIMIT_MS = 2_000;

const many = JSON.stringify({
  ratings: [],
  exclude: Array.from({ length: 10_000 }, (_, n) => `i${n}`),
});
const huge = Buffer.alloc(10 << 20, 'x');

const head = (first: string, length: number, type = 'application/json') =>
  `${first} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

const requests: readonly (readonly (string | Buffer)[])[] = [
  [head('POST /v1/recommendations', huge.length), huge],
  [head('POST /v1/recommendations', many.length), many],
  [head('POST /v1/ratings', 12), '{"user":"u",'],
  [head('POST /v1/ratings', 7, 'text/plain'), 'nothing'],
  [get('/v1/recommendations/u1?n=1000000000')],
  [get(`/v1/recommendations/u1?${'exclude=i1&'.repeat(10_000)}`)],
  [get(`/v1/recommendations/${'x'.repeat(300)}`)],
  [get('/v1/recommendations/%00%FF')],
  ['\x16\x03\x01 no HTTP at all\r\n\r\n'],
];

/** Answers are ignored: the server should refuse these requests or reset the connection. */
function send(parts: readonly (string | Buffer)[]): void {
  const socket = open();
  for (const part of parts) socket.write(part);
  setTimeout(() => socket.destroy(), ANSWER_LIMIT_MS);
}

function dribble(): void {
  const socket = open();
  socket.write('POST /v1/ratings HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
  const timer = setInterval(() => socket.write('x'), DRIBBLE_MS);
  socket.once('close', () => {
    clearInterval(timer);
    // The server has closed the slow connection; open another one.
    setTimeout(dribble, DRIBBLE_MS);
  });
}

function open(): Socket {
  return connect(port, '127.0.0.1')
    .on('error', () => {})
    .resume();
}

for (let n = 0; n < SLOW_CLIENTS; n++) dribble();
let turn = 0;
setInterval(() => send(requests[turn++ % requests.length] ?? []), TICK_MS / requests.length);
