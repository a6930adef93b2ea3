/**
 * Which names mean this machine and no other? One rule, for the address that a server is bound to and for
 * the Host header by which it is asked.
 */
import { isIPv4 } from 'node:net';

export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return name === 'localhost' || name === '::1' || (name.startsWith('127.') && isIPv4(name));
}

/** A name or an IPv4 address, or an IPv6 address in brackets; then perhaps a port. */
const HOST_HEADER = /^(?:\[([0-9a-f:]+)\]|([^:[\]]+))(?::\d{0,5})?$/i;

/**
 * True if the one Host header of a request names loopback. A web page can point a name of its own at
 * 127.0.0.1 and so make a browser on this machine send requests to our port (DNS rebinding). The browser
 * then sends that name as Host, which is how such a request is told from an honest one.
 *
 * Takes the raw headers, name and value in turn: of several Host headers Node shows only the first
 * elsewhere.
 */
export function asksForLoopback(rawHeaders: readonly string[]): boolean {
  let host: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== 'host') continue;
    if (host !== undefined) return false;
    host = rawHeaders[at + 1] ?? '';
  }
  const [, bracketed, plain] = HOST_HEADER.exec(host ?? '') ?? [];
  return isLoopback(bracketed ?? plain ?? '');
}
