/** Tokens for SASL OAUTHBEARER: OAuth 2.0 client credentials (RFC 6749, section 4.4). */

export interface OauthClient {
  readonly mechanism: 'oauthbearer';
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Empty: none is asked for. */
  readonly scope: string;
}

const TIMEOUT_MS = 5_000;
/** A token is replaced after this share of its life: those who just got it find it valid. */
const USED_SHARE = 0.8;
/** Where the endpoint does not say how long a token lives. */
const USUAL_LIFE_SECONDS = 60;

export class OauthTokens {
  /** The token, or the request for it: one request serves all connections that ask meanwhile. */
  #token: Promise<string> | undefined;
  /** As performance.now() has it: from then on another token is asked for. */
  #staleAt = Number.POSITIVE_INFINITY;

  constructor(private readonly client: OauthClient) {}

  async token(): Promise<{ value: string }> {
    if (performance.now() >= this.#staleAt) this.#token = undefined;
    this.#token ??= this.#ask().catch((error: unknown) => {
      this.#token = undefined;
      throw error;
    });
    return { value: await this.#token };
  }

  async #ask(): Promise<string> {
    this.#staleAt = Number.POSITIVE_INFINITY;
    const { tokenUrl, clientId, clientSecret, scope } = this.client;
    const encoded = [clientId, clientSecret].map(encodeURIComponent).join(':');
    const form = new URLSearchParams({ grant_type: 'client_credentials' });
    if (scope !== '') form.set('scope', scope);
    const response = await fetch(tokenUrl, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(encoded).toString('base64')}` },
      body: form,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: Error) => {
      throw new Error(`no token from ${tokenUrl}: ${error.cause ?? error}`, { cause: error });
    });
    const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
    const { access_token: value, expires_in: seconds = USUAL_LIFE_SECONDS } = answer;
    if (!response.ok || typeof value !== 'string') {
      const reason = answer.error_description ?? answer.error ?? 'the answer has no access_token';
      throw new Error(`no token from ${tokenUrl}: ${response.status}: ${reason}`);
    }
    this.#staleAt = performance.now() + 1_000 * USED_SHARE * Number(seconds);
    return value;
  }
}
