import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kafkaSecurity } from './kafka-security.ts';
import { readSettings } from './read-settings.ts';
import { redisServers } from './redis-settings.ts';

let folder: string;
const pem = (name: string) => join(folder, name);
const read = (name: string) => readFileSync(pem(name), 'utf8');

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'freshet-pem-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder });
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=test'];
  openssl(...request, '-keyout', 'key', '-out', 'cert');
  openssl(...request, '-keyout', 'other', '-out', 'ca');
  openssl('pkcs8', '-topk8', '-in', 'key', '-out', 'locked', '-passout', 'pass:hush');
  writeFileSync(pem('text'), 'nothing of the kind');
  writeFileSync(pem('damaged'), read('ca').replace(/^(.{200})..../s, '$1....'));
});

afterAll(() => rmSync(folder, { recursive: true }));

const securityOf = (environment: Record<string, string>) =>
  kafkaSecurity(readSettings(environment));
const user = { KAFKA_SASL_USERNAME: 'ada', KAFKA_SASL_PASSWORD: 'secret' };
const sasl = { mechanism: 'scram-sha-512', username: 'ada', password: 'secret' };
const oauth = {
  KAFKA_SASL_MECHANISM: 'OAUTHBEARER',
  KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL: 'https://sso/token',
  KAFKA_SASL_OAUTHBEARER_CLIENT_ID: 'freshet',
  KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET: 'hush',
};

const mutual = (cert: string, key: string) => ({
  KAFKA_SECURITY_PROTOCOL: 'SSL',
  KAFKA_SSL_CERTIFICATE_LOCATION: pem(cert),
  KAFKA_SSL_KEY_LOCATION: pem(key),
});

describe('how connections to Kafka and Redis are secured', () => {
  it('not at all by default', () => {
    expect(securityOf({})).toEqual({ tls: undefined, sasl: undefined });
  });

  it('by the names that Kafka clients share, in any case', () => {
    const protocol = { KAFKA_SECURITY_PROTOCOL: 'sasl_ssl', KAFKA_SASL_MECHANISM: 'plain' };
    const files = {
      KAFKA_SSL_CA_LOCATION: pem('ca'),
      KAFKA_SSL_CERTIFICATE_LOCATION: pem('cert'),
      KAFKA_SSL_KEY_LOCATION: pem('locked'),
      KAFKA_SSL_KEY_PASSWORD: 'hush',
    };
    expect(securityOf({ ...protocol, ...user, ...files })).toEqual({
      tls: {
        ca: read('ca'),
        cert: read('cert'),
        key: read('locked'),
        passphrase: 'hush',
      },
      sasl: { ...sasl, mechanism: 'plain' },
    });
  });

  it('by the older names, which a newer one overrules', () => {
    const older = { KAFKA_TLS: 'true', KAFKA_USERNAME: 'ada', KAFKA_PASSWORD: 'old' };
    expect(securityOf({ ...older, KAFKA_SASL: 'scram-sha-256' })).toEqual({
      tls: {},
      sasl: { mechanism: 'scram-sha-256', username: 'ada', password: 'old' },
    });
    const file = { KAFKA_PASSWORD_FILE: pem('text') };
    const { sasl: read } = securityOf({ KAFKA_USERNAME: 'ada', ...file });
    expect(read).toMatchObject({ password: 'nothing of the kind' });
    const both = { ...older, KAFKA_SASL_PASSWORD: 'secret' };
    expect(securityOf(both).sasl).toEqual(sasl);
  });

  it('by tokens, for client credentials', () => {
    const cloud = {
      KAFKA_SASL_OAUTHBEARER_EXTENSIONS: 'logicalCluster=lkc-1,identityPoolId=pool-1',
      KAFKA_SASL_OAUTHBEARER_CA_LOCATION: pem('ca'),
    };
    expect(securityOf({ KAFKA_SECURITY_PROTOCOL: 'SASL_SSL', ...oauth, ...cloud }).sasl).toEqual({
      mechanism: 'oauthbearer',
      tokenUrl: 'https://sso/token',
      clientId: 'freshet',
      clientSecret: 'hush',
      scope: '',
      extensions: { logicalCluster: 'lkc-1', identityPoolId: 'pool-1' },
      ca: read('ca'),
    });
  });

  it("to Redis, by an authority and a certificate of one's own", () => {
    const files = {
      REDIS_TLS_CA_LOCATION: pem('ca'),
      REDIS_TLS_CERTIFICATE_LOCATION: pem('cert'),
      REDIS_TLS_KEY_LOCATION: pem('key'),
    };
    expect(redisServers(readSettings({ REDIS_URL: 'rediss://redis', ...files })).tls).toEqual({
      ca: read('ca'),
      cert: read('cert'),
      key: read('key'),
    });
  });

  it('never by half: what is missing, or contradicts the protocol, is named', () => {
    const cases: [environment: Record<string, string>, problem: RegExp][] = [
      [{ KAFKA_SASL_USERNAME: 'ada' }, /^KAFKA_SASL_PASSWORD must be set/m],
      [{ KAFKA_SECURITY_PROTOCOL: 'SASL_SSL' }, /^KAFKA_SASL_USERNAME must be set/m],
      [
        { ...oauth, KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET: '' },
        /^KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET must be set for the SASL mechanism OAUTHBEARER/m,
      ],
      [{ ...user, KAFKA_SECURITY_PROTOCOL: 'SSL' }, /is SSL: use SASL_SSL$/m],
      [{ ...user, KAFKA_SECURITY_PROTOCOL: 'PLAINTEXT' }, /use SASL_PLAINTEXT$/m],
      [{ KAFKA_SSL_CA_LOCATION: pem('ca') }, /is PLAINTEXT: use SSL$/m],
      [{ ...user, KAFKA_SSL_CA_LOCATION: pem('ca') }, /is SASL_PLAINTEXT: use SASL_SSL$/m],
      [{ KAFKA_TLS: 'true', KAFKA_SSL_KEY_LOCATION: pem('key') }, /must be set together$/m],
      [{ KAFKA_SSL_CA_LOCATION: pem('nowhere') }, /^KAFKA_SSL_CA_LOCATION .* no such file/m],
      [{ REDIS_TLS_CA_LOCATION: pem('text') }, /^REDIS_TLS_CA_LOCATION .* no "-----BEGIN" line/m],
      [{ KAFKA_SSL_CA_LOCATION: pem('key') }, /^KAFKA_SSL_CA_LOCATION must .* has none$/m],
      [
        { REDIS_TLS_CA_LOCATION: pem('damaged') },
        /^REDIS_TLS_CA_LOCATION must .* certificate 1 in .* cannot be read/m,
      ],
      [{ ...mutual('cert', 'other') }, /^KAFKA_SSL_KEY_LOCATION must be the key of the first/m],
      [{ ...mutual('cert', 'locked') }, /^KAFKA_SSL_KEY_LOCATION .* KAFKA_SSL_KEY_PASSWORD opens/m],
      [{ REDIS_TLS_CA_LOCATION: pem('ca') }, /REDIS_URL is redis:.*: use rediss:\/\/$/m],
      [
        { REDIS_URL: 'rediss://redis', REDIS_TLS_KEY_LOCATION: pem('key') },
        /^REDIS_TLS_CERTIFICATE_LOCATION and REDIS_TLS_KEY_LOCATION must be set together$/m,
      ],
      [{ REDIS_URL: 'redis://one/1,redis://two/1' }, /^REDIS_URL has .* Cluster has only 0$/m],
      [{ REDIS_URL: 'rediss://one,redis://two' }, /^REDIS_URL has .*: use one of them for all$/m],
      [{ REDIS_SENTINEL_PASSWORD: 'hush' }, /REDIS_SENTINEL_MASTER is not: name the master$/m],
      [{ ...oauth, KAFKA_SASL_OAUTHBEARER_EXTENSIONS: 'lkc-1' }, /must be name=value/],
      [{ KAFKA_SECURITY_PROTOCOL: 'TLS' }, /^KAFKA_SECURITY_PROTOCOL must be .* not "TLS"/m],
    ];
    for (const [environment, problem] of cases) {
      expect(() => readSettings(environment), JSON.stringify(environment)).toThrow(problem);
    }
  });
});
