/** Connections to brokers, also to those that have an IPv6 address. */
import { connect, isIP } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';

const KEEP_ALIVE_MS = 60_000;

/** Without Nagle's algorithm: a small request would wait up to 40 ms for the one before it. */
export const openSocket: ISocketFactory = ({ host: named, port, ssl, onConnect }) => {
  const host = addressOf(named);
  const name = isIP(host) === 0 ? { servername: host } : {};
  const socket = ssl
    ? connectSecurely({ host, port, ...name, ...ssl }, onConnect)
    : connect({ host, port }, onConnect);
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
};

/** [::1]:9092 as [__1]:9092, because kafkajs ends the name of a host at the first colon. */
export function asName(broker: string): string {
  return broker.replace(/^\[.*\]/, (address) => address.replaceAll(':', '_'));
}

function addressOf(name: string): string {
  const [, address] = /^\[(.*)\]$/.exec(name) ?? [];
  return address?.replaceAll('_', ':') ?? name;
}
