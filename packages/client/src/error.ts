/** Why a request failed: the problem details of the answer (RFC 9457), or that there was none. */

export class FreshetError extends Error {
  override readonly name = 'FreshetError';

  /** `status`: of the answer; undefined if none came. */
  constructor(
    detail: string,
    readonly status?: number,
    /** The other fields of the problem details, such as `position` with 409. */
    readonly fields: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(detail, options);
  }

  /** True if the same request may succeed later: after no answer, or one of 409, 429 or 503. */
  get isRetryable(): boolean {
    return this.status === undefined || RETRYABLE.has(this.status);
  }
}

const RETRYABLE: ReadonlySet<number> = new Set([409, 429, 503]);
