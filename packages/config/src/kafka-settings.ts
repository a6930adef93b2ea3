/** The settings of the connection to Kafka, by the names that Kafka clients share. */
import {
  addresses,
  certificates,
  extensions,
  flag,
  httpUrl,
  integer,
  oneOfAnyCase,
  pemFile,
  setting,
  text,
} from './readers.ts';

export const kafkaSettings = {
  KAFKA_BROKERS: setting(addresses, 'localhost:9092', {
    alias: 'KAFKA_BOOTSTRAP_SERVERS',
  }).about('Kafka brokers to connect to first, as host:port, comma separated'),
  KAFKA_SECURITY_PROTOCOL: setting(
    oneOfAnyCase('', 'PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'),
    '',
  ).about(
    'PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL: whether connections to Kafka use TLS and SASL. Empty: SASL if a user name or a token endpoint is set, TLS if KAFKA_TLS is true',
  ),
  KAFKA_TLS: setting(flag, 'false').about(
    'Connect to Kafka over TLS. Used only if KAFKA_SECURITY_PROTOCOL is empty',
  ),
  KAFKA_SSL_CA_LOCATION: setting(certificates, '').about(
    'Path of a PEM file with the certificates of the authorities that sign those of the brokers. Empty: those that Node trusts',
  ),
  KAFKA_SSL_CERTIFICATE_LOCATION: setting(certificates, '').about(
    'Path of a PEM file with the certificate that the brokers ask clients for (mutual TLS)',
  ),
  KAFKA_SSL_KEY_LOCATION: setting(pemFile, '').about(
    'Path of a PEM file with the private key of that certificate',
  ),
  KAFKA_SSL_KEY_PASSWORD: setting(text, '', { secret: true }).about(
    'Password of the private key, if it is encrypted',
  ),
  KAFKA_SASL_MECHANISM: setting(
    oneOfAnyCase('SCRAM-SHA-512', 'SCRAM-SHA-256', 'PLAIN', 'OAUTHBEARER'),
    'SCRAM-SHA-512',
    { alias: 'KAFKA_SASL' },
  ).about('SASL mechanism: SCRAM-SHA-512, SCRAM-SHA-256, PLAIN or OAUTHBEARER'),
  KAFKA_SASL_USERNAME: setting(text, '', { alias: 'KAFKA_USERNAME' }).about(
    'SASL user name. Empty: connect without authentication, or with OAUTHBEARER',
  ),
  KAFKA_SASL_PASSWORD: setting(text, '', { secret: true, alias: 'KAFKA_PASSWORD' }).about(
    'SASL password. Must be set if KAFKA_SASL_USERNAME is',
  ),
  KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL: setting(httpUrl, '').about(
    'URL that gives tokens for client credentials (OAuth 2.0), for OAUTHBEARER',
  ),
  KAFKA_SASL_OAUTHBEARER_CLIENT_ID: setting(text, '').about('Client id, for OAUTHBEARER'),
  KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET: setting(text, '', { secret: true }).about(
    'Client secret, for OAUTHBEARER',
  ),
  KAFKA_SASL_OAUTHBEARER_SCOPE: setting(text, '').about(
    'Scope to ask a token for, for OAUTHBEARER. Empty: none',
  ),
  KAFKA_SASL_OAUTHBEARER_EXTENSIONS: setting(extensions, '').about(
    'SASL extensions that the brokers expect with the token, like logicalCluster=lkc-1,identityPoolId=pool-1, for OAUTHBEARER',
  ),
  KAFKA_SASL_OAUTHBEARER_CA_LOCATION: setting(certificates, '').about(
    'Path of a PEM file with the certificates of the authorities that sign that of the token endpoint. Empty: those that Node trusts',
  ),
  KAFKA_REPLICATION: setting(integer(-1, 9), '-1').about(
    "Replication factor of the topics that Freshet creates. -1: the brokers' default. Existing topics are not changed",
  ),
  KAFKA_SESSION_MS: setting(integer(1_000, 300_000), '10000').about(
    'Session timeout of the consumer groups, in ms: the partitions of a process that died go to another process after this time. The aggregator uses at most 6000',
  ),
} as const;
