/** Why can Kafka not be used? In one line, with the setting to look at. */
import { connectionProblem } from '@freshet/telemetry';
import { NoToken } from './oauth-tokens.ts';

interface Tried {
  /** As the setting has them. */
  readonly brokers: readonly string[];
  readonly mechanism: string | undefined;
}

const ADVICE = {
  untrusted: 'KAFKA_SSL_CA_LOCATION must name the authority that signed it',
  misnamed: 'KAFKA_BROKERS must use a name that the certificate has',
  refused: 'see KAFKA_SSL_CERTIFICATE_LOCATION and KAFKA_SSL_KEY_LOCATION',
  foreign:
    'does KAFKA_SECURITY_PROTOCOL match what that port speaks, and does it ask for a certificate (KAFKA_SSL_CERTIFICATE_LOCATION)?',
};
const SASL_ADVICE = 'see KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD';
const TOKEN_ADVICE =
  'the brokers refuse the token: see KAFKA_SASL_OAUTHBEARER_SCOPE, …_CLIENT_ID and …_EXTENSIONS';
const PROTOCOL_ADVICE = 'does KAFKA_SECURITY_PROTOCOL match what that port speaks?';

export function kafkaProblem(problem: Error, { brokers, mechanism }: Tried): string {
  const told = connectionProblem(problem, ADVICE);
  for (let at: unknown = problem; at instanceof Error; at = at.cause) {
    if (at instanceof NoToken) return at.message;
    const { broker, type } = at as Error & { broker?: unknown; type?: unknown };
    const hint = hintOf(at.name, type, mechanism);
    if (hint !== undefined) return `${told} (${hint})`;
    if (isAnnounced(broker, brokers)) {
      return `${told}: Kafka announces ${broker} (advertised.listeners), which must be reachable from here`;
    }
  }
  return told;
}

function hintOf(name: string, type: unknown, mechanism: string | undefined): string | undefined {
  const isToken = mechanism === 'oauthbearer';
  if (type === 'ILLEGAL_SASL_STATE') return PROTOCOL_ADVICE;
  if (type === 'UNSUPPORTED_SASL_MECHANISM') return 'see KAFKA_SASL_MECHANISM';
  if (type === 'SASL_AUTHENTICATION_FAILED') return isToken ? TOKEN_ADVICE : SASL_ADVICE;
  if (name === 'KafkaJSSASLAuthenticationError') return SASL_ADVICE;
  if (name === 'KafkaJSConnectionClosedError') return ADVICE.foreign;
  return undefined;
}

/** Whether it could not be reached, and is none of the addresses that the setting has. */
function isAnnounced(broker: unknown, brokers: readonly string[]): boolean {
  return typeof broker === 'string' && !broker.startsWith('[') && !brokers.includes(broker);
}
