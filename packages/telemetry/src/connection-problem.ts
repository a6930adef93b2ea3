/**
 * Why did a connection fail, and which setting should an operator look at? Kafka, Redis, the schema
 * registry and the token endpoint fail in the same few ways, but have settings of their own.
 */

/** For each kind of problem, a hint that names the setting. */
interface Advice {
  /** The server's certificate is signed by nobody that is trusted. */
  readonly untrusted: string;
  /** The server's certificate is for another name. */
  readonly misnamed: string;
  /** The server does not accept our certificate, or asks for one. */
  readonly refused: string;
  /** The server speaks something else: TLS where we do not, or the other way round. */
  readonly foreign: string;
}

const KINDS: readonly (readonly [codes: RegExp, kind: keyof Advice])[] = [
  [/^ERR_SSL_.*ALERT_(?!PROTOCOL_VERSION)/, 'refused'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'misnamed'],
  [/SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED|CERT_SIGNATURE/, 'untrusted'],
  [/^(EPROTO|ECONNRESET|HPE_\w+|ERR_SSL_(WRONG_VERSION|HTTP_REQUEST|PACKET_LENGTH).*)$/, 'foreign'],
];

/** One line, with the setting to look at in brackets where there is one. */
export function connectionProblem(error: Error, advice: Partial<Advice>): string {
  const kind = kindOf(error);
  const hint = kind === undefined ? undefined : advice[kind];
  return hint === undefined ? oneLine(error) : `${oneLine(error)} (${hint})`;
}

function kindOf(error: unknown): keyof Advice | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as Error & { code?: unknown };
    const found = KINDS.find(([codes]) => typeof code === 'string' && codes.test(code));
    if (found !== undefined) return found[1];
  }
  return undefined;
}

/** OpenSSL tells its reason between numbers and the place in its source. */
function oneLine({ message, name }: Error): string {
  const [line = ''] = message.trim().split('\n');
  return line.replace(/[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):.*$/, '$1') || name;
}
