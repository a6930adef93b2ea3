/** Tokens for SASL OAUTHBEARER: OAuth 2.0 client credentials (RFC 6749, section 4.4). */

export interface OauthClient {
  readonly mechanism: 'oauthbearer';
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Empty: none is asked for. */
  readonly scope: string;
}

interface Token {
  readonly value: string;
  /** As performance.now() has it: from then on another one is asked for. */
  readonly staleAt: number;
}

const TIMEOUT_MS = 5_000;
/** A token is replaced after this share of its life: those who just got it find it valid. */
const USED_SHARE = 0.8;
/** Where the endpoint does not say how long a token lives. */
const USUAL_LIFE_SECONDS = 60;

export class OauthTokens {
  readonly #client: OauthClient;
  /** One request serves all connections that ask meanwhile. */
  #token: Promise<Token> | undefined;

  constructor(client: OauthClient) {
    this.#client = client;
  }

  async token(): Promise<{ value: string }> {
    const kept = await this.#token?.catch(() => undefined);
    if (kept === undefined || performance.now() >= kept.staleAt) this.#token = this.#ask();
    return { value: ((await this.#token) as Token).value };
  }

  async #ask(): Promise<Token> {
    const { tokenUrl, clientId, clientSecret, scope } = this.#client;
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
    return { value, staleAt: performance.now() + 1_000 * USED_SHARE * Number(seconds) };
  }
}
