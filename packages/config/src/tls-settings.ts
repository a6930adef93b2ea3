/** TLS to Kafka and Redis: trusted authorities, client certificate and key, from PEM files. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Settings } from './settings.ts';

/** What the names of the settings begin with. */
type TlsPrefix = 'KAFKA_SSL' | 'REDIS_TLS';

/** Leaves out what is not set: Node would take an empty text for a certificate. */
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

/** The first of these files that is set: it would be ignored without TLS. */
export function tlsFileOf(chosen: Settings, prefix: TlsPrefix): string | undefined {
  const names = ['CA_LOCATION', 'CERTIFICATE_LOCATION', 'KEY_LOCATION'] as const;
  return names.map((name) => `${prefix}_${name}` as const).find((name) => chosen[name] !== '');
}

/** A key that is not that of the certificate would fail later, with an obscure OpenSSL message. */
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
