/** The settings of the connection to Kafka, by the names that Kafka clients share. */
import {
  addresses,
  flag,
  httpUrl,
  integer,
  oneOfAnyCase,
  pemFile,
  type Setting,
  text,
} from './readers.ts';

export const kafkaSettings = {
  KAFKA_BROKERS: {
    read: addresses,
    fallback: 'localhost:9092',
    about: 'Kafka brokers to connect to first, as host:port, comma separated',
  },
  KAFKA_SECURITY_PROTOCOL: {
    read: oneOfAnyCase('', 'PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'),
    fallback: '',
    about:
      'PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL: whether connections to Kafka use TLS and SASL. Empty: SASL if a user name or a token endpoint is set, TLS if KAFKA_TLS is true',
  },
  KAFKA_TLS: {
    read: flag,
    fallback: 'false',
    about: 'Connect to Kafka over TLS. Used only if KAFKA_SECURITY_PROTOCOL is empty',
  },
  KAFKA_SSL_CA_LOCATION: {
    read: pemFile,
    fallback: '',
    about:
      'Path of a PEM file with the certificates of the authorities that sign those of the brokers. Empty: those that Node trusts',
  },
  KAFKA_SSL_CERTIFICATE_LOCATION: {
    read: pemFile,
    fallback: '',
    about: 'Path of a PEM file with the certificate that the brokers ask clients for (mutual TLS)',
  },
  KAFKA_SSL_KEY_LOCATION: {
    read: pemFile,
    fallback: '',
    about: 'Path of a PEM file with the private key of that certificate',
  },
  KAFKA_SSL_KEY_PASSWORD: {
    read: text,
    fallback: '',
    about: 'Password of the private key, if it is encrypted',
    secret: true,
  },
  KAFKA_SASL_MECHANISM: {
    read: oneOfAnyCase('SCRAM-SHA-512', 'SCRAM-SHA-256', 'PLAIN', 'OAUTHBEARER'),
    fallback: 'SCRAM-SHA-512',
    about: 'SASL mechanism: SCRAM-SHA-512, SCRAM-SHA-256, PLAIN or OAUTHBEARER',
    alias: 'KAFKA_SASL',
  },
  KAFKA_SASL_USERNAME: {
    read: text,
    fallback: '',
    about: 'SASL user name. Empty: connect without authentication, or with OAUTHBEARER',
    alias: 'KAFKA_USERNAME',
  },
  KAFKA_SASL_PASSWORD: {
    read: text,
    fallback: '',
    about: 'SASL password. Must be set if KAFKA_SASL_USERNAME is',
    secret: true,
    alias: 'KAFKA_PASSWORD',
  },
  KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL: {
    read: httpUrl,
    fallback: '',
    about: 'URL that gives tokens for client credentials (OAuth 2.0), for OAUTHBEARER',
  },
  KAFKA_SASL_OAUTHBEARER_CLIENT_ID: {
    read: text,
    fallback: '',
    about: 'Client id, for OAUTHBEARER',
  },
  KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET: {
    read: text,
    fallback: '',
    about: 'Client secret, for OAUTHBEARER',
    secret: true,
  },
  KAFKA_SASL_OAUTHBEARER_SCOPE: {
    read: text,
    fallback: '',
    about: 'Scope to ask a token for, for OAUTHBEARER. Empty: none',
  },
  KAFKA_REPLICATION: {
    read: integer(-1, 9),
    fallback: '-1',
    about:
      "Replication factor of the topics that Freshet creates. -1: the brokers' default. Existing topics are not changed",
  },
  KAFKA_SESSION_MS: {
    read: integer(1_000, 300_000),
    fallback: '10000',
    about:
      'Session timeout of the consumer groups, in ms: the partitions of a process that died go to another process after this time. The aggregator uses at most 6000',
  },
} as const satisfies Record<string, Setting>;
