/**
 * A client for the HTTP API, one method for each route. Every request has one deadline, within
 * which it is retried: after network errors and answers of 409 (a rating named by `after` is not
 * applied yet), 429 and 503, and 502 and 504 of a proxy that reaches no scorer.
 *
 * Retrying is safe for every route. Reading changes nothing. A rating that is written twice counts
 * once, because the client gives it its time: the second copy says the same of the same moment.
 */
import { FreshetError } from './error.ts';
import type { Operations, Place, Rating } from './operations.ts';

export interface FreshetClientOptions {
  /** Where the scorer answers, like http://127.0.0.1:8080. */
  readonly url: string;
  /** HTTP_TOKEN of the scorer, if it has one. */
  readonly token?: string | undefined;
  /** How long a call may take, retries included [2000]. */
  readonly timeoutMs?: number | undefined;
  /** When it is aborted, calls end and throw its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Sent with every request, such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Replaces the global fetch: for proxies, tracing or tests. */
  readonly fetch?: typeof fetch | undefined;
}

export type Answer<O extends keyof Operations> = Operations[O]['answer'];
type Body<O extends keyof Operations> = Extract<Operations[O], { body: unknown }>['body'];
type Query<O extends keyof Operations> = Extract<Operations[O], { query: unknown }>['query'];

type Wishes = Omit<Query<'GET /v1/recommendations/{user}'>, 'after'> & {
  /** Where a rating was written that the list must know of. */
  readonly after?: Place | string | undefined;
};

const TIMEOUT_MS = 2_000;
/** Timers take no more: a longer one would fire at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
/** The first pause before a retry. It doubles up to the longest, and is shortened at random. */
const PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/** URL parsers remove these segments from a path, even if they are percent-encoded. */
const UNSENDABLE: ReadonlySet<string> = new Set(['', '.', '..']);

interface Request {
  readonly path?: Readonly<Record<string, string | readonly string[]>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export class FreshetClient {
  readonly #options: FreshetClientOptions;
  readonly #base: string;
  readonly #headers: Headers;

  constructor(options: FreshetClientOptions) {
    const { url, token = '', timeoutMs = TIMEOUT_MS, headers } = options;
    this.#options = options;
    this.#base = baseOf(url);
    // Said here, because the error of fetch would have the token in its message.
    if (/[^\x20-\x7e]/.test(token.trim())) {
      throw new TypeError('token has a character that no header may have');
    }
    if (!(timeoutMs >= 0)) throw new TypeError(`timeoutMs must be 0 or more, not ${timeoutMs}`);
    // Names of headers are the same in any case, and each is sent once.
    this.#headers = new Headers(headers);
    if (token !== '') this.#headers.set('authorization', `Bearer ${token}`);
  }

  /** The same client with other options, for some calls: a signal, a deadline, headers. */
  with(options: Partial<FreshetClientOptions>): FreshetClient {
    return new FreshetClient({ ...this.#options, ...options });
  }

  /** The best items for a user. */
  recommend(user: string, wishes: Wishes = {}) {
    const { after } = wishes;
    const place = typeof after === 'object' ? `${after.partition}:${after.offset}` : after;
    const query = { ...wishes, after: place };
    return this.#ask('GET /v1/recommendations/{user}', { path: { user }, query });
  }

  /** The best items for each of several users. */
  recommendToMany(body: Body<'POST /v1/recommendations/batch'>) {
    return this.#ask('POST /v1/recommendations/batch', { body });
  }

  /** The best items for somebody with these ratings, oldest first; nothing is stored. */
  recommendToGuest(body: Body<'POST /v1/recommendations'>) {
    return this.#ask('POST /v1/recommendations', { body });
  }

  /** Writes ratings and tells where: pass a place as `after` to read your own write. */
  async rate(...ratings: readonly Rating[]): Promise<readonly Place[]> {
    const now = Date.now();
    const body = ratings.map((rating) => ({ ...rating, time: rating.time ?? now }));
    return (await this.#ask('POST /v1/ratings', { body })).ratings;
  }

  /** Takes a rating back. */
  unrate(user: string, item: string): Promise<Place> {
    return this.#ask('DELETE /v1/ratings/{user}/{item}', { path: { user, item } });
  }

  /** Forgets a user: all ratings, and everything that is stored under the id. */
  forget(user: string): Promise<Place> {
    return this.#ask('DELETE /v1/users/{user}', { path: { user } });
  }

  /** The ratings of a user and how fresh they are. */
  ratingsOf(user: string) {
    return this.#ask('GET /v1/users/{user}', { path: { user } });
  }

  /** The score and the expected value of items for a user. */
  estimate(user: string, items: readonly string[]) {
    return this.#ask('GET /v1/estimates/{user}/{items}', { path: { user, items } });
  }

  /** The parts of an item's score for a user; they add up to the score. */
  because(user: string, item: string) {
    return this.#ask('GET /v1/users/{user}/because/{item}', { path: { user, item } });
  }

  /** The items most like one. */
  similar(item: string, query: Query<'GET /v1/items/{item}/similar'> = {}) {
    return this.#ask('GET /v1/items/{item}/similar', { path: { item }, query });
  }

  /** The items that users rated after one, more often than chance. */
  next(item: string, query: Query<'GET /v1/items/{item}/next'> = {}) {
    return this.#ask('GET /v1/items/{item}/next', { path: { item }, query });
  }

  /** What is rated most now. */
  popular(query: Query<'GET /v1/items/popular'> = {}) {
    return this.#ask('GET /v1/items/popular', { query });
  }

  async #ask<O extends keyof Operations>(operation: O, request: Request): Promise<Answer<O>> {
    const { timeoutMs = TIMEOUT_MS, signal } = this.#options;
    const deadline = performance.now() + Math.min(timeoutMs, LONGEST_TIMEOUT_MS);
    for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      signal?.throwIfAborted();
      const outcome = await this.#try(operation, request, deadline - performance.now());
      if (!(outcome instanceof FreshetError)) return outcome as Answer<O>;
      signal?.throwIfAborted();
      // Somewhere in the second half: clients that failed together do not come back together.
      const restMs = (outcome.retryAfterMs ?? 0) + pauseMs * (0.5 + 0.5 * Math.random());
      if (!outcome.isRetryable || performance.now() + restMs >= deadline) throw outcome;
      await pause(restMs, signal);
    }
  }

  /** One attempt: the answer, or why there is none. */
  async #try(operation: string, request: Request, leftMs: number): Promise<unknown> {
    const { signal: ending, fetch: send = fetch } = this.#options;
    const [method = '', template = ''] = operation.split(' ');
    const address = `${this.#base}${pathOf(template, request)}${queryOf(request)}`;
    const headers = new Headers(this.#headers);
    if (request.body !== undefined) headers.set('content-type', 'application/json');
    const body = request.body === undefined ? null : JSON.stringify(request.body, sendable);
    // A redirect is an error: following one would make a GET of a POST.
    const redirect = 'manual';
    // AbortSignal.timeout and AbortSignal.any would keep each attempt in memory until the deadline,
    // or for as long as `ending` lives.
    const attempt = new AbortController();
    const { signal } = attempt;
    const end = (): void => attempt.abort();
    const timer = setTimeout(end, Math.max(1, Math.ceil(leftMs)));
    const forget = onAbort(ending, end);
    try {
      const response = await send(address, { method, headers, signal, body, redirect });
      const text = await response.text();
      return (response.ok && parsed(text)) || problemOf(response, text, `${method} ${template}`);
    } catch (error) {
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      const reason = signal.aborted ? 'the deadline has passed' : cause;
      return new FreshetError(`${method} ${this.#base}: no answer: ${reason}`, { cause: error });
    } finally {
      clearTimeout(timer);
      forget();
    }
  }
}

/** The URL without query and fragment; throws if no request can be sent there. */
function baseOf(url: string): string {
  const { protocol, username, origin, pathname } = new URL(url);
  if (!/^https?:$/.test(protocol) || username !== '') {
    throw new TypeError('url must begin with http:// or https://, and have no user name');
  }
  return origin + pathname.replace(/\/+$/, '');
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, ms);
    const forget = onAbort(signal, () => {
      clearTimeout(timer);
      reject(signal?.reason);
    });
  });
}

/** Calls `end` when the signal is aborted, until what this returns is called. */
function onAbort(signal: AbortSignal | undefined, end: () => void): () => void {
  if (signal === undefined) return () => {};
  const ends = endsOf(signal);
  ends.add(end);
  return () => void ends.delete(end);
}

const endsBySignal = new WeakMap<AbortSignal, Set<() => void>>();

/** One listener serves all calls of a signal: Node warns where there are more than ten. */
function endsOf(signal: AbortSignal): Set<() => void> {
  const known = endsBySignal.get(signal);
  if (known !== undefined) return known;
  const ends = new Set<() => void>();
  endsBySignal.set(signal, ends);
  signal.addEventListener('abort', () => {
    for (const end of ends) end();
  });
  return ends;
}

/** Also for an answer of 200 that is not JSON: a proxy in between may answer with a page. */
function problemOf({ status, headers }: Response, text: string, operation: string): FreshetError {
  const fields = parsed(text) ?? {};
  const moved = headers.get('location');
  const said = typeof fields.detail === 'string' ? fields.detail : text.slice(0, 200);
  const detail = moved === null ? said : `url should be that of ${moved}`;
  const retryAfterMs = restOf(headers.get('retry-after') ?? '');
  return new FreshetError(`${operation}: ${status}: ${detail}`, { status, fields, retryAfterMs });
}

/** Retry-After in milliseconds from now: it has seconds, or a date that ends with GMT. */
function restOf(retryAfter: string): number | undefined {
  if (/^\d+$/.test(retryAfter)) return 1_000 * Number(retryAfter);
  const date = retryAfter.endsWith('GMT') ? Date.parse(retryAfter) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** The object that an answer is; undefined if it is none. */
function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** JSON would make null of NaN, which takes a rating back. */
function sendable(name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new TypeError(`${name} is ${value}: no request can say that`);
}

function pathOf(template: string, { path = {} }: Request): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    // Commas separate ids, so a comma within one is encoded.
    const ids = [path[name] ?? ''].flat().map(encodeURIComponent).join(',');
    if (!UNSENDABLE.has(ids)) return ids;
    throw new TypeError(`"${ids}" cannot be the ${name} of a path: it would lead to another path`);
  });
}

function queryOf({ query = {} }: Request): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value].flat()) if (each !== undefined) pairs.append(name, String(each));
  }
  return pairs.size === 0 ? '' : `?${pairs}`;
}
