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

export interface RedisServers {
  /** One server or node of a cluster; several nodes of a cluster; with `sentinel`, Sentinels. */
  readonly urls: readonly string[];
  /** Whom to trust, and with which certificate, in PEM. For rediss:// URLs. */
  readonly tls?: Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'passphrase'>;
  /** If given, `urls` are those of Sentinels, which are asked for the address of `master`. */
  readonly sentinel?: { readonly master: string } & Partial<Credentials>;
}

/** Empty: none. */
interface Credentials {
  readonly username: string;
  readonly password: string;
}

const ADVICE = {
  untrusted: 'REDIS_TLS_CA_LOCATION must name the authority that signed it',
  misnamed: 'REDIS_URL must use a name that the certificate has',
  refused: 'see REDIS_TLS_CERTIFICATE_LOCATION and REDIS_TLS_KEY_LOCATION',
  foreign:
    'does that port speak TLS (rediss://) or not (redis://), and does it ask for a certificate (REDIS_TLS_CERTIFICATE_LOCATION)?',
};
const REPLIES: readonly (readonly [reply: RegExp, advice: string])[] = [
  [/^connect ETIMEDOUT$/, 'is the address right, and does that port speak TLS if it is rediss://?'],
  [/DB index|'select'|SELECT/, 'see the number of the database in REDIS_URL'],
  [/No such master|invalid reply: null/, 'see REDIS_SENTINEL_MASTER'],
  [
    /sentinel .*(WRONGPASS|NOAUTH|NOPERM|ERR AUTH)/,
    'see REDIS_SENTINEL_USERNAME and REDIS_SENTINEL_PASSWORD',
  ],
  [/^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH)/, 'see the user name and the password in REDIS_URL'],
];

const RETRY_LIMIT_MS = 2_000;
const SENTINEL_PORT = 26_379;
/** Attempts at the start, so that a cluster that is away is reported within seconds. */
const FIRST_ATTEMPTS = 3;

const connection = {
  connectTimeout: 3_000,
  // Without a limit a command to a server that is away would wait for ever.
  commandTimeout: 5_000,
  // A host that vanished closes no connection, and TCP would notice only after minutes.
  socketTimeout: 6_000,
  maxRetriesPerRequest: 3,
  keepAlive: 10_000,
  retryStrategy: (attempt: number) =>
    Math.min(50 * 2 ** attempt, RETRY_LIMIT_MS) * (0.9 + attempt / 100),
  // After a fail-over the old master, now a replica, may keep its connections: connect anew.
  reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
};

type Options = typeof connection &
  Credentials & { readonly db: number; readonly tls?: NonNullable<RedisServers['tls']> };

const cluster = {
  scaleReads: 'master' as const,
  slotsRefreshTimeout: 2_000,
  retryDelayOnFailover: 200,
  retryDelayOnClusterDown: 200,
  maxRedirections: 16,
  // A node is connected to by its name, not by the address behind it: certificates have names.
  dnsLookup: (name: string, found: (error: null, address: string) => void) => found(null, name),
};

/** How long a connection may ask a node that has moved its slots. */
const SLOTS_REFRESH_MS = 5_000;

export async function openRedis(
  servers: RedisServers,
  onError: (error: Error) => void,
): Promise<Connection> {
  const { urls, sentinel } = servers;
  const [first] = urls;
  if (first === undefined) throw new RangeError('no Redis URL');
  const options = optionsOf(first, servers);
  if (sentinel !== undefined) {
    return connected(masterOf(urls, options, sentinel), urls, onError);
  }
  const openCluster = () => connected(clusterOf(urls, options), urls, onError);
  const openServer = () => connected(new Redis(first, options), [first], onError);
  try {
    if (urls.length > 1) return await openCluster();
  } catch (error) {
    // For a cluster ioredis says only that no node answered; for one server it says why.
    (await openServer()).disconnect();
    throw error;
  }
  const redis = await openServer();
  const mode = await modeOf(redis);
  if (mode === 'standalone') return redis;
  redis.disconnect();
  if (mode === 'cluster') return openCluster();
  throw unusable(urls, `it is a ${mode}: name the master by REDIS_SENTINEL_MASTER`);
}

/** Servers that others name have the user, the password and the TLS of the first URL. */
function optionsOf(url: string, { tls = {} }: RedisServers): Options {
  const { username, password, protocol, pathname } = new URL(url);
  return {
    ...connection,
    db: Number(pathname.slice(1)),
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
    ...(protocol === 'rediss:' ? { tls } : {}),
  };
}

function clusterOf(urls: readonly string[], redisOptions: Options): Cluster {
  let wasReady = false;
  const clusterRetryStrategy = (attempt: number) =>
    wasReady || attempt <= FIRST_ATTEMPTS ? connection.retryStrategy(attempt) : null;
  const redis = new Cluster([...urls], { ...cluster, redisOptions, clusterRetryStrategy });
  // With ioredis's slotsRefreshInterval an answer that comes after `quit` sets its timer once more,
  // and the process never ends.
  const refresh = setInterval(() => redis.refreshSlotsCache(), SLOTS_REFRESH_MS).unref();
  redis.once('end', () => clearInterval(refresh));
  return redis.once('ready', () => {
    wasReady = true;
  });
}

function masterOf(
  urls: readonly string[],
  options: Options,
  { master, username = '', password = '' }: NonNullable<RedisServers['sentinel']>,
): Redis {
  const sentinels = urls
    .map((url) => new URL(url))
    .map(({ hostname, port }) => ({ host: hostname, port: Number(port || SENTINEL_PORT) }));
  const { tls } = options;
  return new Redis({
    ...options,
    ...(tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: tls }),
    sentinelUsername: username,
    sentinelPassword: password,
    sentinels,
    name: master,
    // Each attempt to connect asks every Sentinel once.
    sentinelRetryStrategy: () => null,
    failoverDetector: true,
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
    // Keeps what a Sentinel said; the event after it says only that none could be used.
    if (cause === undefined || !error.message.startsWith('All sentinels')) cause = error;
  };
  // Without a listener ioredis prints errors; commands report their own failures.
  redis.on('error', onError).on('error', note).on('sentinelError', note);
  try {
    await redis.ping();
    // If it cannot choose its database, ioredis goes on with the first one.
    const { db } = redis.options as { readonly db?: number };
    if (db) await redis.select(db);
    return redis;
  } catch (error) {
    redis.disconnect();
    throw unusable(urls, cause ?? (error as Error));
  } finally {
    redis.off('error', note).off('sentinelError', note);
  }
}

/** If the user may not run INFO, the URL is taken for that of a single server. */
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
  const told = connectionProblem(problem, ADVICE);
  const [, advice] = REPLIES.find(([reply]) => reply.test(problem.message)) ?? [];
  return advice === undefined ? told : `${told} (${advice})`;
}

const SCAN_COUNT = 1_000;

/**
 * Every field of a hash with its value, a few at a time; some may come twice. It begins anew if
 * Redis is restarted meanwhile, fails over, or moves the slot.
 */
export async function* scanHash(
  run: Scripts,
  key: string,
): AsyncGenerator<(readonly [field: Buffer, value: Buffer])[], void> {
  let [cursor, server] = ['0', ''];
  for (;;) {
    const reply = await run.scan(1, key, cursor, SCAN_COUNT);
    const [asked, next, found] = reply as [Buffer, Buffer, Buffer[]];
    const isLost = cursor !== '0' && asked.toString() !== server;
    server = asked.toString();
    cursor = isLost ? '0' : next.toString();
    if (isLost) continue;
    const pairs: (readonly [Buffer, Buffer])[] = [];
    for (let at = 0; at + 1 < found.length; at += 2) {
      const [field, value] = [found[at], found[at + 1]];
      if (field && value) pairs.push([field, value]);
    }
    yield pairs;
    if (cursor === '0') return;
  }
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
    scan: define('scan.lua'),
    reserve: define('reserve.lua'),
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
    const { name } = error;
    const message = reasonOf(error);
    if (name === 'ReplyError' && WRONG.test(message) && !PASSING.test(message)) {
      throw new Error(`Redis refused a command: ${message}`);
    }
    throw new StoreAway(`Redis: ${message}`);
  }
}

/** If Redis gave a transaction up, the reason is with the first command that it refused. */
function reasonOf(error: Error & { readonly previousErrors?: readonly Error[] }): string {
  return (error.previousErrors?.[0] ?? error).message;
}

/** Runs a transaction; throws if one of its commands failed. Returns the reply to the last. */
export async function executed(transaction: ChainableCommander): Promise<unknown> {
  const replies = (await answered(transaction.exec())) ?? [];
  for (const [error] of replies) {
    if (error) throw new Error(`Redis refused a command: ${error.message}`);
  }
  return replies.at(-1)?.[1];
}
