/** How is Redis reached, how are scripts sent to it, and what do its errors mean? */
import { readFileSync } from 'node:fs';
import type { SecureContextOptions } from 'node:tls';
import { connectionProblem, Fault } from '@freshet/telemetry';
import { type ChainableCommander, Cluster, Redis } from 'ioredis';
import { StoreAway } from './factor-store.ts';

/** Redis could not be reached at the start: not retried, the operator must look. */
export class RedisUnreachable extends Fault {
  readonly verdict = 'stop';
}

/** ioredis converts any other type to text. */
type Argument = string | number | Buffer;
type Script = (keyCount: number, ...keysAndArguments: Argument[]) => Promise<unknown>;
/** Standalone or Cluster. */
export type Connection = Redis | Cluster;

/** Whom to trust, and with which certificate, in PEM. */
export type RedisTls = Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'passphrase'>;

const ADVICE = {
  untrusted: 'REDIS_TLS_CA_LOCATION must name the authority that signed it',
  misnamed: 'REDIS_URL must use a name that the certificate has',
  refused: 'see REDIS_TLS_CERTIFICATE_LOCATION and REDIS_TLS_KEY_LOCATION',
  foreign:
    'does that port speak TLS (rediss://) or not (redis://), and does it ask for a certificate (REDIS_TLS_CERTIFICATE_LOCATION)?',
};
const PASSWORD_ADVICE = 'see the user name and the password in REDIS_URL';

const RETRY_LIMIT_MS = 2_000;
/** A cluster that is away at the start is told of within seconds, as one server is. */
const FIRST_ATTEMPTS = 3;

const connection = {
  connectTimeout: 3_000,
  // Without a limit a command to a server that is away would wait for ever.
  commandTimeout: 5_000,
  maxRetriesPerRequest: 3,
  keepAlive: 10_000,
  retryStrategy: (attempt: number) =>
    Math.min(50 * 2 ** attempt, RETRY_LIMIT_MS) * (0.9 + attempt / 100),
};

type Options = typeof connection & { readonly tls?: RedisTls };

const cluster = {
  scaleReads: 'master' as const,
  slotsRefreshTimeout: 2_000,
  slotsRefreshInterval: 5_000, // how long a connection may ask a node that has moved its slots
  retryDelayOnFailover: 200,
  retryDelayOnClusterDown: 200,
  maxRedirections: 16,
  // A node is connected to by its name, not by the address behind it: certificates have names.
  dnsLookup: (name: string, found: (error: null, address: string) => void) => found(null, name),
};

/** `tls` is for rediss:// URLs. One URL is a server or any node of a cluster, several are nodes. */
export async function openRedis(
  urls: readonly string[],
  onError: (error: Error) => void,
  tls: RedisTls,
): Promise<Connection> {
  const [first] = urls;
  if (first === undefined) throw new RangeError('no Redis URL');
  const isSecure = first.startsWith('rediss:');
  const options: Options = isSecure ? { ...connection, tls } : connection;
  const openCluster = () => connected(clusterOf(urls, options), urls, onError);
  const openServer = () => connected(new Redis(first, options), [first], onError);
  try {
    if (urls.length > 1) return await openCluster();
  } catch (error) {
    // Of a cluster ioredis tells only that no node answered; of one server it tells why.
    (await openServer()).disconnect();
    throw error;
  }
  const redis = await openServer();
  const mode = await modeOf(redis);
  if (mode === 'standalone') return redis;
  redis.disconnect();
  if (mode === 'cluster') return openCluster();
  throw unusable(urls, `it is a ${mode}: give the address of the master`);
}

/** Nodes that the cluster names have the user, the password and the TLS of the first URL. */
function clusterOf(urls: readonly string[], options: Options): Cluster {
  const { username, password } = new URL(urls[0] as string);
  const redisOptions = {
    ...options,
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  };
  let wasReady = false;
  const clusterRetryStrategy = (attempt: number) =>
    wasReady || attempt <= FIRST_ATTEMPTS ? connection.retryStrategy(attempt) : null;
  const redis = new Cluster([...urls], { ...cluster, redisOptions, clusterRetryStrategy });
  return redis.once('ready', () => {
    wasReady = true;
  });
}

/** Waits for the first answer. Why there is none, ioredis tells in an event, not in the error. */
async function connected<T extends Connection>(
  redis: T,
  urls: readonly string[],
  onError: (error: Error) => void,
): Promise<T> {
  let cause: Error | undefined;
  const note = (error: Error) => {
    cause = error;
  };
  // Without a listener ioredis prints errors; commands report their own failures.
  redis.on('error', onError).on('error', note);
  try {
    await redis.ping();
    return redis;
  } catch (error) {
    redis.disconnect();
    throw unusable(urls, cause ?? (error as Error));
  } finally {
    redis.off('error', note);
  }
}

/** A user who may not ask gets what the URL says: one server. */
async function modeOf(redis: Redis): Promise<string> {
  const info = await redis.info('server').catch(() => '');
  return /^redis_mode:(\w+)/m.exec(info)?.[1] ?? 'standalone';
}

function unusable(urls: readonly string[], problem: Error | string): RedisUnreachable {
  const where = urls.map((url) => new URL(url).host).join(', ');
  const what = typeof problem === 'string' ? problem : tell(problem);
  return new RedisUnreachable(`cannot use Redis at ${where} (REDIS_URL): ${what}`, {
    cause: problem,
  });
}

function tell(problem: Error): string {
  const isRefused = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH)/.test(problem.message);
  const told = connectionProblem(problem, ADVICE);
  return isRefused ? `${told} (${PASSWORD_ADVICE})` : told;
}

const SCAN_COUNT = 1_000;

/** Every field of a hash with its value, a few at a time; some may come twice. */
export async function* scanHash(
  redis: Connection,
  key: string,
): AsyncGenerator<(readonly [field: Buffer, value: Buffer])[], void> {
  let cursor = '0';
  do {
    const scan = redis.hscanBuffer(key, cursor, 'COUNT', SCAN_COUNT);
    const [next, found] = await answered(scan);
    const pairs: (readonly [Buffer, Buffer])[] = [];
    for (let at = 0; at + 1 < found.length; at += 2) {
      const [field, value] = [found[at], found[at + 1]];
      if (field && value) pairs.push([field, value]);
    }
    yield pairs;
    cursor = next.toString();
  } while (cursor !== '0');
}

export type Scripts = ReturnType<typeof scriptsOf>;

/** The scripts of lua/. Their replies are bytes; ioredis sends a text that Redis lost again. */
export function scriptsOf(redis: Connection) {
  const define = (file: string): Script => {
    const lua = readFileSync(new URL(`../lua/${file}`, import.meta.url), 'utf8');
    const name = `freshet/${file}`;
    redis.defineCommand(name, { lua });
    const command: Script = Reflect.get(redis, `${name}Buffer`).bind(redis);
    return (...given) => answered(command(...given));
  };
  return {
    agree: define('agree.lua'),
    takeOver: define('take-over.lua'),
    commit: define('commit.lua'),
    inspect: define('inspect.lua'),
    load: define('load.lua'),
    beginCopy: define('begin-copy.lua'),
    readCopy: define('read-copy.lua'),
    endCopy: define('end-copy.lua'),
  };
}

/** Errors of commands that are wrong, and stay wrong if they are retried. */
const WRONG = /^(ERR|WRONGTYPE|CROSSSLOT|NOSCRIPT)\b/;
const PASSING = /^ERR max number of clients/;

/** The reply to a command, or an error that has a verdict and holds nothing of the command. */
export async function answered<T>(reply: Promise<T>): Promise<T> {
  try {
    return await reply;
  } catch (error) {
    const isBug = error instanceof TypeError || error instanceof RangeError;
    if (isBug || !(error instanceof Error)) throw error;
    const { name, message } = error;
    if (name === 'ReplyError' && WRONG.test(message) && !PASSING.test(message)) {
      throw new Error(`Redis refused a command: ${message}`);
    }
    throw new StoreAway(`Redis: ${message}`);
  }
}

/** Runs a transaction; throws if one of its commands failed. */
export async function executed(transaction: ChainableCommander): Promise<void> {
  for (const [error] of (await answered(transaction.exec())) ?? []) {
    if (error) throw new Error(`Redis refused a command: ${error.message}`);
  }
}
