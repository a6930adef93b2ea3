/** Tokens for SASL OAUTHBEARER: OAuth 2.0 client credentials (RFC 6749, section 4.4). */
import { connectionProblem, Fault } from '@freshet/telemetry';
import { httpRequest } from './http-request.ts';

export interface OauthClient {
  readonly mechanism: 'oauthbearer';
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Empty: none is asked for. */
  readonly scope: string;
  /** SASL extensions that are sent with the token (RFC 7628). */
  readonly extensions: Readonly<Record<string, string>>;
  /** In PEM, who signs the certificate of the endpoint; empty: whom Node trusts. */
  readonly ca: string;
}

const ADVICE = {
  untrusted: 'KAFKA_SASL_OAUTHBEARER_CA_LOCATION must name the authority that signed it',
  misnamed: 'KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL must use a name that the certificate has',
  foreign: 'see KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL: does that port speak TLS?',
};
const REFUSED_ADVICE =
  'see KAFKA_SASL_OAUTHBEARER_CLIENT_ID, …_CLIENT_SECRET, …_SCOPE and …_TOKEN_ENDPOINT_URL';

const TIMEOUT_MS = 5_000;
/** A token is replaced after this share of its life: those who just got it find it valid. */
const USED_SHARE = 0.8;
/**
 * Nor is one given out that lives no longer than this. Connections authenticate again so long
 * before their token ends, at every request if it has less, and Kafka refuses that within a second.
 */
export const REAUTHENTICATION_MS = 10_000;
/** Where the endpoint does not say how long a token lives. */
const USUAL_LIFE_SECONDS = 60;

export interface OauthToken {
  readonly value: string;
  readonly extensions: OauthClient['extensions'];
}

/** The endpoint gave no token. One that is away, or fails itself, is asked again. */
export class NoToken extends Fault {
  readonly verdict: 'retry' | 'stop';

  constructor(
    tokenUrl: string,
    what: string,
    /** Read by kafkajs. */
    readonly retriable: boolean,
    cause?: Error,
  ) {
    super(`no token from ${tokenUrl}: ${what}`, { cause });
    this.verdict = retriable ? 'retry' : 'stop';
  }
}

export class OauthTokens {
  /** The token, or the request for it: one request serves all connections that ask meanwhile. */
  #token: Promise<string> | undefined;
  /** As performance.now() has it: from then on another token is asked for. */
  #staleAt = Number.POSITIVE_INFINITY;

  constructor(private readonly client: OauthClient) {}

  async token(): Promise<OauthToken> {
    if (performance.now() >= this.#staleAt) this.#token = undefined;
    this.#token ??= this.#ask().catch((error: unknown) => {
      this.#token = undefined;
      throw error;
    });
    return { value: await this.#token, extensions: this.client.extensions };
  }

  async #ask(): Promise<string> {
    this.#staleAt = Number.POSITIVE_INFINITY;
    const { tokenUrl, clientId, clientSecret, scope, ca } = this.client;
    const encoded = [clientId, clientSecret].map(encodeURIComponent).join(':');
    const form = new URLSearchParams({ grant_type: 'client_credentials' });
    if (scope !== '') form.set('scope', scope);
    const headers = {
      authorization: `Basic ${Buffer.from(encoded).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    };
    const body = form.toString();
    const request = { method: 'POST', headers, body, ca, timeoutMs: TIMEOUT_MS } as const;
    const { status, text } = await httpRequest(tokenUrl, request).catch((error: Error) => {
      throw new NoToken(tokenUrl, connectionProblem(error, ADVICE), true, error);
    });
    const answer = objectIn(text);
    const { access_token: value, expires_in: seconds } = answer;
    if (status !== 200 || typeof value !== 'string' || value === '') {
      const isAway = status >= 500 || status === 429;
      const told = `${status}: ${reasonIn(answer)} (${REFUSED_ADVICE})`;
      throw new NoToken(tokenUrl, told, isAway);
    }
    const life = Number.parseFloat(String(seconds));
    const lifeMs = 1_000 * (Number.isNaN(life) ? USUAL_LIFE_SECONDS : life);
    this.#staleAt =
      performance.now() + Math.min(USED_SHARE * lifeMs, lifeMs - 1.5 * REAUTHENTICATION_MS);
    return value;
  }
}

/** In one line. */
function reasonIn({ error_description: description, error }: Record<string, unknown>): string {
  const reason = description ?? error ?? 'the answer has no access_token';
  const text = typeof reason === 'string' ? reason : JSON.stringify(reason);
  return text.replaceAll(/\s+/g, ' ');
}

function objectIn(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {}; // a page of something else: the caller says that there is no token
  }
}
