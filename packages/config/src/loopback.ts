/** Which names mean loopback? The same for the address of a server and the Host of its requests. */
import { isIPv4 } from 'node:net';

export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return name === 'localhost' || name === '::1' || (name.startsWith('127.') && isIPv4(name));
}

/** A name, an IPv4 address, or an IPv6 address in brackets; a port may follow. */
const HOST_HEADER = /^(?:\[([0-9a-f:]+)\]|([^:[\]]+))(?::\d{0,5})?$/i;

/**
 * True if a request has exactly one Host header and it names loopback. The owner of a web page can
 * let his domain resolve to 127.0.0.1, so that a browser on this machine sends requests to our port
 * with that domain as Host (DNS rebinding). Takes the raw headers, because the parsed ones show
 * only the first Host.
 */
export function asksForLoopback(rawHeaders: readonly string[]): boolean {
  let host: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== 'host') continue;
    if (host !== undefined) return false;
    host = rawHeaders[at + 1];
  }
  if (host === undefined) return false;
  if (host !== last.host) last = { host, isLoopback: namesLoopback(host) };
  return last.isLoopback;
}

/** Most requests have the Host header of the one before. */
let last = { host: '', isLoopback: false };

function namesLoopback(host: string): boolean {
  const [, bracketed, plain] = HOST_HEADER.exec(host) ?? [];
  const name = bracketed ?? plain;
  return name !== undefined && isLoopback(name);
}
