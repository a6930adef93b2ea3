/**
 * Who may ask an HTTP server of ours? With a token, whoever sends it. Without one, only clients on this machine:
 * the server is bound to loopback, and a request must also ask for a name of loopback.
 */
import type { IncomingMessage } from 'node:http';
import { type Clock, type Refusal, TokenGuard } from './token-guard.ts';

/** Calls `decided` with undefined if the request may be answered; at once, unless its address has to wait. */
export type RequestGuard = (
  request: IncomingMessage,
  decided: (refusal: Refusal | undefined) => void,
) => void;

interface GuardOptions {
  /** Empty: none is asked for. */
  readonly token: string;
  /** By the raw headers of a request: does it ask for this server, and not for a stranger's name? */
  readonly answersTo: (rawHeaders: readonly string[]) => boolean;
  /** What a client is told that asks for another name: 421 Misdirected Request. */
  readonly misdirected: string;
  /** Delays the check of tokens from an address that guesses; the machine's, unless a test has its own. */
  readonly clock?: Clock | undefined;
}

export function requestGuard({ token, answersTo, misdirected, clock }: GuardOptions): RequestGuard {
  if (token === '') {
    const refusal: Refusal = { status: 421, detail: misdirected, headers: {} };
    return ({ rawHeaders }, decided) => decided(answersTo(rawHeaders) ? undefined : refusal);
  }
  const tokens = new TokenGuard(token, clock);
  return ({ socket, headers }, decided) => {
    // A client that has already hung up has no address any more, and gets no answer.
    tokens.check(socket.remoteAddress ?? '', headers.authorization, decided);
  };
}
