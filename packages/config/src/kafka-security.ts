/** How connections to Kafka prove who they are, and whom they trust. */
import type { Settings } from './settings.ts';
import { tlsConflicts, tlsFileOf, tlsOf } from './tls-settings.ts';

/** Undefined: no TLS, no authentication by SASL. */
export function kafkaSecurity(chosen: Settings) {
  const protocol = protocolOf(chosen);
  return {
    tls: protocol.endsWith('SSL') ? tlsOf(chosen, 'KAFKA_SSL') : undefined,
    sasl: protocol.startsWith('SASL') ? saslOf(chosen) : undefined,
  };
}

/** What is missing or contradicts the protocol: it would fail later with an obscure error. */
export function securityConflicts(chosen: Settings): string[] {
  const protocol = protocolOf(chosen);
  const problems = tlsConflicts(chosen, 'KAFKA_SSL');
  const isSasl = protocol.startsWith('SASL');
  const unused = SASL_SETTINGS.find((name) => chosen[name] !== '');
  if (isSasl) problems.push(...missing(chosen));
  else if (unused !== undefined) {
    problems.push(
      `${unused} is set, and KAFKA_SECURITY_PROTOCOL is ${protocol}: use SASL_${protocol}`,
    );
  }
  const file = tlsFileOf(chosen, 'KAFKA_SSL');
  if (file !== undefined && !protocol.endsWith('SSL')) {
    const secure = isSasl ? 'SASL_SSL' : 'SSL';
    problems.push(`${file} is set, and KAFKA_SECURITY_PROTOCOL is ${protocol}: use ${secure}`);
  }
  return problems;
}

const SASL_SETTINGS = ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL'] as const;

const NEEDED = {
  OAUTHBEARER: [
    'KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL',
    'KAFKA_SASL_OAUTHBEARER_CLIENT_ID',
    'KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET',
  ],
  others: ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'],
} as const;

function missing(chosen: Settings): string[] {
  const mechanism = chosen.KAFKA_SASL_MECHANISM;
  const needed = NEEDED[mechanism === 'OAUTHBEARER' ? mechanism : 'others'];
  return needed
    .filter((name) => chosen[name] === '')
    .map((name) => `${name} must be set for the SASL mechanism ${mechanism}`);
}

function protocolOf(chosen: Settings): 'PLAINTEXT' | 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL' {
  if (chosen.KAFKA_SECURITY_PROTOCOL !== '') return chosen.KAFKA_SECURITY_PROTOCOL;
  const transport = chosen.KAFKA_TLS ? 'SSL' : 'PLAINTEXT';
  return SASL_SETTINGS.some((name) => chosen[name] !== '') ? `SASL_${transport}` : transport;
}

function saslOf(chosen: Settings) {
  if (chosen.KAFKA_SASL_MECHANISM === 'OAUTHBEARER') {
    return {
      mechanism: 'oauthbearer' as const,
      tokenUrl: chosen.KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL,
      clientId: chosen.KAFKA_SASL_OAUTHBEARER_CLIENT_ID,
      clientSecret: chosen.KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET,
      scope: chosen.KAFKA_SASL_OAUTHBEARER_SCOPE,
      extensions: chosen.KAFKA_SASL_OAUTHBEARER_EXTENSIONS,
      ca: chosen.KAFKA_SASL_OAUTHBEARER_CA_LOCATION,
    };
  }
  const { KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = chosen;
  const mechanism = chosen.KAFKA_SASL_MECHANISM.toLowerCase();
  return {
    mechanism: mechanism as 'plain' | 'scram-sha-256' | 'scram-sha-512',
    username,
    password,
  };
}
