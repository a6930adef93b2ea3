/** The settings of the connection to Redis. */
import { certificates, pemFile, redisUrls, setting, text } from './readers.ts';
import type { Settings } from './settings.ts';
import { tlsConflicts, tlsFileOf, tlsOf } from './tls-settings.ts';

export const redisSettings = {
  REDIS_URL: setting(redisUrls, 'redis://localhost:6379', { secret: true }).about(
    'redis:// or rediss:// URL of the store, or of any node of a Redis Cluster. Several, comma separated, are nodes of a cluster, or Sentinels if REDIS_SENTINEL_MASTER is set. The user and password of the first URL are used for every node or master',
  ),
  REDIS_SENTINEL_MASTER: setting(text, '').about(
    'Name of the master that Sentinels watch. Then REDIS_URL has the addresses of the Sentinels, with the user and password of the master',
  ),
  REDIS_SENTINEL_USERNAME: setting(text, '').about('User name at the Sentinels. Empty: none'),
  REDIS_SENTINEL_PASSWORD: setting(text, '', { secret: true }).about(
    'Password at the Sentinels. Empty: none',
  ),
  REDIS_TLS_CA_LOCATION: setting(certificates, '').about(
    'Path of a PEM file with the certificates of the authorities that sign those of Redis, for rediss:// URLs. Empty: those that Node trusts',
  ),
  REDIS_TLS_CERTIFICATE_LOCATION: setting(certificates, '').about(
    'Path of a PEM file with the certificate that Redis asks clients for, which it does unless tls-auth-clients is no',
  ),
  REDIS_TLS_KEY_LOCATION: setting(pemFile, '').about(
    'Path of a PEM file with the private key of that certificate',
  ),
  REDIS_TLS_KEY_PASSWORD: setting(text, '', { secret: true }).about(
    'Password of the private key, if it is encrypted',
  ),
} as const;

/** The settings in the form that the store takes. */
export function redisServers(chosen: Settings) {
  const servers = { urls: chosen.REDIS_URL, tls: tlsOf(chosen, 'REDIS_TLS') };
  const { REDIS_SENTINEL_MASTER: master, REDIS_SENTINEL_USERNAME: username } = chosen;
  if (master === '') return servers;
  return { ...servers, sentinel: { master, username, password: chosen.REDIS_SENTINEL_PASSWORD } };
}

/** Settings that contradict REDIS_URL, and what `tlsConflicts` finds. */
export function redisConflicts(chosen: Settings): string[] {
  const problems = tlsConflicts(chosen, 'REDIS_TLS');
  const file = tlsFileOf(chosen, 'REDIS_TLS');
  const secure = chosen.REDIS_URL.filter((url) => url.startsWith('rediss:')).length;
  if (file !== undefined && secure === 0) {
    problems.push(`${file} is set, and REDIS_URL is redis://, without TLS: use rediss://`);
  } else if (secure !== 0 && secure !== chosen.REDIS_URL.length) {
    problems.push('REDIS_URL has nodes with redis:// and with rediss://: use one of them for all');
  }
  const isCluster = chosen.REDIS_SENTINEL_MASTER === '' && chosen.REDIS_URL.length > 1;
  if (isCluster && chosen.REDIS_URL.some((url) => /[1-9]/.test(new URL(url).pathname))) {
    problems.push('REDIS_URL has the number of a database, and a Redis Cluster has only 0');
  }
  const sentinel = SENTINEL_USER.find((name) => chosen[name] !== '');
  if (sentinel !== undefined && chosen.REDIS_SENTINEL_MASTER === '') {
    problems.push(`${sentinel} is set, and REDIS_SENTINEL_MASTER is not: name the master`);
  }
  return problems;
}

const SENTINEL_USER = ['REDIS_SENTINEL_USERNAME', 'REDIS_SENTINEL_PASSWORD'] as const;
