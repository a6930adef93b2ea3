/** The files by which connections to Kafka and to Redis trust and are trusted, over TLS. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Settings } from './settings.ts';

/** What the names of the settings begin with. */
type TlsPrefix = 'KAFKA_SSL' | 'REDIS_TLS';

/** What is not given is left out: an empty text would count as a certificate. */
export function tlsOf(chosen: Settings, prefix: TlsPrefix) {
  const given = {
    ca: chosen[`${prefix}_CA_LOCATION`],
    cert: chosen[`${prefix}_CERTIFICATE_LOCATION`],
    key: chosen[`${prefix}_KEY_LOCATION`],
    passphrase: chosen[`${prefix}_KEY_PASSWORD`],
  };
  const files = Object.entries(given).filter(([, text]) => text !== '');
  return Object.fromEntries(files) as Partial<typeof given>;
}

/** The first setting that makes no sense without TLS. */
export function tlsFileOf(chosen: Settings, prefix: TlsPrefix): string | undefined {
  const names = ['CA_LOCATION', 'CERTIFICATE_LOCATION', 'KEY_LOCATION'] as const;
  return names.map((name) => `${prefix}_${name}` as const).find((name) => chosen[name] !== '');
}

/** A certificate and a key that do not belong together would fail later, with a word of OpenSSL. */
export function tlsConflicts(chosen: Settings, prefix: TlsPrefix): string[] {
  const { cert = '', key = '', passphrase } = tlsOf(chosen, prefix);
  const [certName, keyName] = [`${prefix}_CERTIFICATE_LOCATION`, `${prefix}_KEY_LOCATION`];
  if ((cert === '') !== (key === '')) return [`${certName} and ${keyName} must be set together`];
  if (cert === '') return [];
  let opened: KeyObject;
  try {
    opened = createPrivateKey({ key, ...(passphrase === undefined ? {} : { passphrase }) });
  } catch {
    return [`${keyName} must be a private key in PEM that ${prefix}_KEY_PASSWORD opens, if any`];
  }
  if (new X509Certificate(cert).checkPrivateKey(opened)) return [];
  return [`${keyName} must be the key of the first certificate in ${certName}, and it is another`];
}
