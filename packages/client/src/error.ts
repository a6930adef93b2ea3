/** Why a request failed: the problem details of the answer (RFC 9457), or that there was none. */

interface Failure extends ErrorOptions {
  readonly status?: number;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly retryAfterMs?: number | undefined;
}

export class FreshetError extends Error {
  override readonly name = 'FreshetError';
  /** The status of the answer; undefined if none came. */
  readonly status: number | undefined;
  /** The other fields of the problem details, such as `position` with 409. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The `Retry-After` of the answer; undefined if it has none. */
  readonly retryAfterMs: number | undefined;

  constructor(detail: string, { status, fields = {}, retryAfterMs, ...options }: Failure) {
    super(detail, options);
    this.status = status;
    this.fields = fields;
    this.retryAfterMs = retryAfterMs;
  }

  /** True if the same request may succeed later: after no answer, or one that says so. */
  get isRetryable(): boolean {
    return this.status === undefined || RETRYABLE.has(this.status);
  }
}

const RETRYABLE: ReadonlySet<number> = new Set([409, 429, 502, 503, 504]);
