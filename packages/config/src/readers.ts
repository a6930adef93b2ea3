/**
 * Readers turn the text of a setting into its value. A reader throws a BadValue if it cannot, with
 * a message that continues the name of the setting: "NAME must be …".
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

export class BadValue extends Error {
  override readonly name = 'BadValue';
}

export type Reader<T> = (text: string) => T;

/** `fallback` is read where the setting is not given; `alias` is read too. */
export function setting<T>(
  read: Reader<T>,
  fallback: string,
  remarks: { readonly secret?: true; readonly alias?: string } = {},
) {
  return { about: (about: string) => ({ read, fallback, about, ...remarks }) };
}

export const text: Reader<string> = (given) => given;

export const list: Reader<readonly string[]> = (given) => {
  const parts = given.split(',').map((part) => part.trim());
  if (parts.some((part) => part === '')) {
    throw new BadValue(`must be a comma-separated list without empty parts, not "${given}"`);
  }
  return parts;
};

/** A text of this form; `form` says it in words. */
function matching(pattern: RegExp, form: string): Reader<string> {
  return (given) => {
    if (pattern.test(given)) return given;
    throw new BadValue(`must be ${form}, not "${given}"`);
  };
}

export function listOf(pattern: RegExp, form: string): Reader<readonly string[]> {
  const one = matching(pattern, form);
  return (given) => list(given).map(one);
}

/** An address to bind to. Never empty, because Node binds to all addresses then. */
export const host = matching(/^[^\s/[\]]+$/, 'an address or a host name without a port');

/** host:port pairs, as Kafka clients take them. */
export const addresses = listOf(/^(\[[0-9a-f:]+\]|[^\s:/]+):\d{1,5}$/i, 'host:port[,host:port…]');

/** name=value pairs, as RFC 7628 allows: letters, printable ASCII. Empty is allowed. */
export const extensions: Reader<Readonly<Record<string, string>>> = (given) => {
  const pairs = given === '' ? [] : namedValues(given);
  return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/, 2)));
};
const namedValues = listOf(/^[A-Za-z]+=[!-~ ]+$/, 'name=value[,name=value…]');

/** service=host:port pairs, one for each process of a service. Empty is allowed. */
export const watchedAddresses: Reader<readonly { service: string; address: string }[]> = (
  given,
) => {
  if (given === '') return [];
  return list(given).map((part) => {
    const [, service, address] = /^([a-z]+)=(.+)$/.exec(part) ?? [];
    if (service === undefined || address === undefined) {
      throw new BadValue(`must be service=host:port[,service=host:port…], not "${part}"`);
    }
    addresses(address); // throws if it is none
    return { service, address: address.trim() };
  });
};

/** An http:// or https:// URL; empty is allowed. */
export const httpUrl: Reader<string> = (given) => {
  if (given === '' || (/^https?:\/\//.test(given) && URL.canParse(given))) return given;
  throw new BadValue(`must be http://host:port or https://host:port, not "${given}"`);
};

const REDIS_FORM = 'must be redis://user:password@host:port/database[,redis://host:port…]';

/** One redis URL for a standalone server, several for the nodes of a cluster. */
export const redisUrls: Reader<readonly string[]> = (given) => {
  const parts = list(given);
  // The text may hold a password, so no message repeats it.
  if (!parts.every(isRedisUrl)) {
    throw new BadValue(`${REDIS_FORM}, where a % in a password is %25 and a / is %2F`);
  }
  return parts;
};

function isRedisUrl(part: string): boolean {
  if (!/^rediss?:\/\/\S+$/.test(part) || !URL.canParse(part)) return false;
  const { pathname, username, password } = new URL(part);
  const isDecoded = !/%(?![0-9a-f]{2})/i.test(username + password);
  return isDecoded && /^(\/\d*)?$/.test(pathname);
}

export function integer(least: number, most: number): Reader<number> {
  return (given) => {
    const value = Number(given);
    if (!/^-?\d+$/.test(given) || value < least || value > most) {
      throw new BadValue(`must be a whole number from ${least} to ${most}, not "${given}"`);
    }
    return value;
  };
}

export function integers(least: number, most: number): Reader<readonly number[]> {
  const one = integer(least, most);
  return (given) => list(given).map(one);
}

export function decimal(least: number, most: number): Reader<number> {
  return (given) => {
    const value = Number(given);
    if (given.trim() === '' || !(value >= least && value <= most)) {
      throw new BadValue(`must be a number from ${least} to ${most}, not "${given}"`);
    }
    return value;
  };
}

export function oneOf<const T extends string>(...choices: readonly T[]): Reader<T> {
  return (given) => {
    const choice = choices.find((candidate) => candidate === given);
    if (choice === undefined) throw new BadValue(`must be ${choices.join(' or ')}, not "${given}"`);
    return choice;
  };
}

/** The same in any case of letters: people copy such names from the settings of other clients. */
export function oneOfAnyCase<const T extends string>(...choices: readonly T[]): Reader<T> {
  const one = oneOf(...choices);
  return (given) => one(choices.find((choice) => choice === given.toUpperCase()) ?? given);
}

export function someOf<const T extends string>(...choices: readonly T[]): Reader<readonly T[]> {
  const one = oneOf(...choices);
  return (given) => list(given).map(one);
}

export const flag: Reader<boolean> = (given) => oneOf('true', 'false')(given) === 'true';

/** The text of a PEM file; for an empty path, an empty text. */
export const pemFile: Reader<string> = (path) => {
  if (path === '') return '';
  const found = readFrom('a PEM file', () => readFileSync(path, 'utf8'));
  if (found.includes('-----BEGIN ')) return found;
  throw new BadValue(`must be the path of a PEM file, and ${path} has no "-----BEGIN" line`);
};

/**
 * The text of a PEM file with certificates; a key may stand beside them. Each is checked, because
 * Node silently ignores a certificate that it cannot read.
 */
export const certificates: Reader<string> = (path) => {
  const found = pemFile(path);
  if (path !== '' && !found.includes('CERTIFICATE-----')) {
    throw new BadValue(`must be the path of certificates in PEM, and ${path} has none`);
  }
  const blocks = found.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  for (const [index, block] of blocks.entries()) {
    const kind = `certificates in PEM, and certificate ${index + 1} in ${path} cannot be read`;
    readFrom(kind, () => new X509Certificate(block));
  }
  return found;
};

/** The JSON object in a file; for an empty path, an empty object. */
export const jsonFile: Reader<Readonly<Record<string, unknown>>> = (path) => {
  if (path === '') return {};
  const found: unknown = readFrom('a JSON file', () => JSON.parse(readFileSync(path, 'utf8')));
  if (typeof found !== 'object' || found === null || Array.isArray(found)) {
    throw new BadValue(`must be the path of a JSON object, not of ${JSON.stringify(found)}`);
  }
  return found as Record<string, unknown>;
};

function readFrom<T>(kind: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new BadValue(`must be the path of ${kind}: ${(error as Error).message}`);
  }
}

/** A name that can be part of a Kafka topic, a Redis key and a consumer group. */
export const name = matching(/^[a-z0-9][a-z0-9-]{0,39}$/, '1 to 40 of a-z, 0-9 and "-"');

/** Topic names in which * stands for any text. */
export const topicPatterns = listOf(
  /^[A-Za-z0-9._*-]{1,249}$/,
  'topic names, in which * stands for any text',
);

/** Subjects of a schema registry, in which * stands for any text. Empty is allowed. */
export const subjectPatterns: Reader<readonly string[]> = (given) =>
  given === '' ? [] : list(given);

/** Names in settings in which * stands for any text. */
export function matcher(patterns: readonly string[]): (name: string) => boolean {
  const expressions = patterns.map((pattern) => {
    const parts = pattern.split('*').map((part) => part.replaceAll(/[\\^$.+?()[\]{}|]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`);
  });
  return (name) => expressions.some((expression) => expression.test(name));
}
