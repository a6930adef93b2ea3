/**
 * Does a request have the right bearer token? Guessing is slowed down for each remote address
 * separately: requests of addresses without failures are decided at once.
 */
import assert from 'node:assert';
import { createHash, timingSafeEqual } from 'node:crypto';
import { FailedTokens } from './failed-tokens.ts';

export interface Clock {
  /** In ms. */
  now(): number;
  after(ms: number, then: () => void): void;
}

/** What to answer instead of what was asked for. */
export interface Refusal {
  readonly status: 401 | 421 | 429;
  readonly detail: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Each holds a socket and a timer. With a delay of 2 s an address can try 4 tokens a second. */
const WAITING_LIMIT = 8;

const unauthorized: Refusal = {
  status: 401,
  detail: 'a valid bearer token is needed',
  headers: { 'www-authenticate': 'Bearer' },
};

const machineClock: Clock = {
  now: () => performance.now(),
  after: (ms, then) => void setTimeout(then, ms),
};

export class TokenGuard {
  readonly #expected: Buffer;
  readonly #clock: Clock;
  readonly #failed: FailedTokens;
  /** By address: how many of its requests wait; addresses without any are left out. */
  readonly #waiting = new Map<string, number>();

  constructor(token: string, clock: Clock = machineClock) {
    if (token === '') throw new RangeError('the token must not be empty');
    this.#expected = digest(token);
    this.#clock = clock;
    this.#failed = new FailedTokens(clock.now);
  }

  /** Whether the token is right and the address need not wait. If not, `check` says what to do. */
  admits(address: string, authorization: string | undefined): boolean {
    const given = tokenIn(authorization);
    if (given === undefined || this.#failed.delayOf(address) > 0) return false;
    return this.#isRight(address, given);
  }

  /** Calls back with undefined if the token is right; at once, unless the address must wait. */
  check(
    address: string,
    authorization: string | undefined,
    decided: (refusal: Refusal | undefined) => void,
  ): void {
    const given = tokenIn(authorization);
    // A request without a token is no guess: a page that has not asked its user yet, or a probe.
    if (given === undefined) return decided(unauthorized);
    const delay = this.#failed.delayOf(address);
    if (delay === 0) return decided(this.#judge(address, given));
    const waiting = this.#waiting.get(address) ?? 0;
    if (waiting >= WAITING_LIMIT) return decided(crowded(delay));
    this.#waiting.set(address, waiting + 1);
    this.#clock.after(delay, () => {
      this.#leave(address);
      decided(this.#judge(address, given));
    });
  }

  #judge(address: string, given: string): Refusal | undefined {
    if (this.#isRight(address, given)) return undefined;
    this.#failed.add(address);
    return unauthorized;
  }

  #isRight(address: string, given: string): boolean {
    const isRight = timingSafeEqual(digest(given), this.#expected);
    if (isRight) this.#failed.clear(address);
    return isRight;
  }

  #leave(address: string): void {
    const waiting = this.#waiting.get(address);
    assert(waiting !== undefined, 'this request of the address has waited until now');
    if (waiting === 1) this.#waiting.delete(address);
    else this.#waiting.set(address, waiting - 1);
  }
}

function tokenIn(authorization: string | undefined): string | undefined {
  return authorization?.match(/^Bearer (.+)$/i)?.[1];
}

function crowded(delayMs: number): Refusal {
  return {
    status: 429,
    detail: 'this address has sent too many wrong tokens: try again later, with the right one',
    headers: { 'retry-after': String(Math.ceil(delayMs / 1_000)) },
  };
}

/** Digests are compared in constant time, which reveals neither length nor content. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
