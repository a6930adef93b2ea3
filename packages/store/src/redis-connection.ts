/** How is Redis reached, how are scripts sent to it, and what do its errors mean? */
import { readFileSync } from 'node:fs';
import { Fault } from '@freshet/telemetry';
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

const RETRY_LIMIT_MS = 2_000;

const connection = {
  connectTimeout: 3_000,
  // Without a limit a command to a server that is away would wait for ever.
  commandTimeout: 5_000,
  maxRetriesPerRequest: 3,
  keepAlive: 10_000,
  retryStrategy: (attempt: number) =>
    Math.min(50 * 2 ** attempt, RETRY_LIMIT_MS) * (0.9 + attempt / 100),
};

const cluster = {
  scaleReads: 'master' as const,
  slotsRefreshTimeout: 2_000,
  slotsRefreshInterval: 5_000, // how long a connection may ask a node that has moved its slots
  retryDelayOnFailover: 200,
  retryDelayOnClusterDown: 200,
  maxRedirections: 16,
};

/** `ca`: the authorities, in PEM, that sign the certificates of rediss:// servers. */
export async function openRedis(
  urls: readonly string[],
  onError: (error: Error) => void,
  ca: string,
): Promise<Connection> {
  const [first] = urls;
  if (first === undefined) throw new RangeError('no Redis URL');
  const trusting = ca === '' ? connection : { ...connection, tls: { ca } };
  const redis =
    urls.length === 1
      ? new Redis(first, trusting)
      : new Cluster([...urls], { ...cluster, redisOptions: trusting });
  // Without a listener ioredis prints errors; commands report their own failures.
  redis.on('error', onError);
  try {
    await redis.ping();
  } catch (error) {
    redis.disconnect();
    const where = urls.map((url) => new URL(url).host).join(', ');
    throw new RedisUnreachable(
      `cannot use Redis at ${where} (REDIS_URL): ${(error as Error).message}`,
      { cause: error },
    );
  }
  return redis;
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
