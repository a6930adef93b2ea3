/**
 * Who may ask an HTTP server of ours? With a token, whoever sends it. Without one, only clients on
 * this machine: the server is bound to loopback, and the Host header must name loopback too.
 */
import type { IncomingMessage } from 'node:http';
import { type Clock, type Refusal, TokenGuard } from './token-guard.ts';

export interface RequestGuard {
  /** Whether the request may be answered at once. If not, `check` says what to do with it. */
  admits(request: IncomingMessage): boolean;
  /** Calls `decided` with undefined if the request may be answered. Guessers are kept waiting. */
  check(request: IncomingMessage, decided: (refusal: Refusal | undefined) => void): void;
}

interface GuardOptions {
  /** Empty: none is asked for. */
  readonly token: string;
  /** By the raw headers of a request: is its Host header a name of this server? */
  readonly answersTo: (rawHeaders: readonly string[]) => boolean;
  /** The detail of 421 Misdirected Request, which answers a request for another name. */
  readonly misdirected: string;
  /** Times the delays of an address that guesses tokens; tests pass a clock of their own. */
  readonly clock?: Clock | undefined;
}

export function requestGuard({ token, answersTo, misdirected, clock }: GuardOptions): RequestGuard {
  if (token === '') {
    const refusal: Refusal = { status: 421, detail: misdirected, headers: {} };
    return {
      admits: ({ rawHeaders }) => answersTo(rawHeaders),
      check: ({ rawHeaders }, decided) => decided(answersTo(rawHeaders) ? undefined : refusal),
    };
  }
  const tokens = new TokenGuard(token, clock);
  // A client that has already hung up has no address any more, and gets no answer.
  const addressOf = ({ socket }: IncomingMessage) => socket.remoteAddress ?? '';
  return {
    admits: (request) => tokens.admits(addressOf(request), request.headers.authorization),
    check: (request, decided) =>
      tokens.check(addressOf(request), request.headers.authorization, decided),
  };
}
