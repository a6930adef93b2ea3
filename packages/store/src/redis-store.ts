/**
 * The factor store in Redis, standalone or Cluster. All keys of a shard share one hash tag, so that
 * a commit is one script in one slot; Redis Cluster distributes the slots.
 */
import { readFileSync } from 'node:fs';
import { bytesOf, sides } from '@freshet/events';
import { Fault } from '@freshet/telemetry';
import { Cluster, Redis } from 'ioredis';
import {
  type Agreed,
  type Agreement,
  type Birth,
  checkManifest,
  foreignShard,
  type Member,
  SIGN_OF_LIFE_MS,
  sealOf,
} from './agreement.ts';
import {
  type AcceptedLoss,
  type Commit,
  type CommitResult,
  type FactorStore,
  type PlacedEntity,
  type ShardHead,
  type ShardId,
  type ShardState,
  StaleEpoch,
  StoreAway,
  type StoredEntity,
  type StoredVector,
} from './factor-store.ts';
import { decodeFacts, encodeFacts, NO_FACTS } from './shard-facts.ts';
import { decodeVector, encodeVector } from './vector-codec.ts';

/** Redis could not be reached at the start: not retried, the operator must look. */
export class RedisUnreachable extends Fault {
  override readonly name = 'RedisUnreachable';
  readonly verdict = 'stop';
}

/** ioredis converts any other type to text. */
type Argument = string | number | Buffer;
type Script = (keyCount: number, ...keysAndArguments: Argument[]) => Promise<unknown>;
type Scripts = Record<'agree' | 'takeOver' | 'commitBatch' | 'inspect' | 'load', Script>;
type Reply = (Buffer | null)[];

const RETRY_LIMIT_MS = 2_000;
const SCAN_COUNT = 1_000;
/** The most users or items in one call: while a script runs, Redis serves nobody else. */
const LOADED_AT_ONCE = 1_000;
/** The fields of a shard's head, in the order in which every script returns them. */
const HEAD = ['fence', 'position', 'commit', 'facts'] as const;

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

export class RedisStore implements FactorStore {
  readonly #redis: Redis | Cluster;
  readonly #run: Scripts;
  readonly #model: string;
  /** The hash of the manifest that was agreed on; empty before. */
  #seal = '';

  private constructor(redis: Redis | Cluster, model: string) {
    this.#redis = redis;
    this.#model = model;
    this.#run = {
      agree: define(redis, 'freshetAgree', 'agree.lua'),
      takeOver: define(redis, 'freshetTakeOver', 'take-over.lua'),
      commitBatch: define(redis, 'freshetCommit', 'commit.lua'),
      inspect: define(redis, 'freshetInspect', 'inspect.lua'),
      load: define(redis, 'freshetLoad', 'load.lua'),
    };
  }

  /**
   * `ca`: the authorities, in PEM, that sign the certificates of rediss:// servers. Empty: those
   * that Node trusts.
   */
  static async open(
    urls: readonly string[],
    model: string,
    onError: (error: Error) => void,
    ca = '',
  ): Promise<RedisStore> {
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
    return new RedisStore(redis, model);
  }

  async agree({ manifest, tuning }: Agreement, { id, born }: Member): Promise<Agreed> {
    const reply = await this.#run.agree(
      1,
      this.#manifestKey,
      JSON.stringify(manifest),
      JSON.stringify(tuning),
      id,
      SIGN_OF_LIFE_MS,
      born ?? '',
    );
    // The script returns as many details as its kind needs.
    const [kind, ...details] = (reply as (Buffer | number)[]).map(String);
    const [first, second, third] = details as [string, string, string];
    if (kind === 'absent') return { kind };
    if (kind === 'tuned') return { kind, tuning: JSON.parse(first), others: Number(second) };
    if (kind === 'differs') checkManifest(JSON.parse(first), manifest, this.#model);
    this.#seal = sealOf(manifest);
    const former = third === '' ? null : JSON.parse(third);
    return { kind: 'agreed', born: Number(first), rebuilt: Number(second), former };
  }

  async leave(memberId: string): Promise<void> {
    await answered(this.#redis.hdel(this.#manifestKey, `member:${memberId}`));
  }

  async birth(): Promise<Birth | null> {
    const found = await answered(this.#redis.hmget(this.#manifestKey, 'born', 'rebuilt'));
    const [born = null, rebuilt = null] = found;
    return born === null ? null : { born: Number(born), rebuilt: Number(rebuilt ?? 0) };
  }

  async takeOver(shard: ShardId, epoch: number): Promise<ShardState> {
    const keys = this.#keys(shard);
    const place = [keys.head, keys.sums, keys.outbox];
    const reply = await this.#run.takeOver(3, ...place, epoch, this.#seal);
    const [taken, ...state] = reply as [number, ...Reply];
    if (taken === -2) throw foreignShard(shard.side, shard.shard, this.#model);
    const name = `${shard.side} shard ${shard.shard}`;
    if (taken === -3) throw new StoreAway(`${name} is being emptied`);
    if (taken !== 1) {
      throw new StaleEpoch(
        `${name} has fence ${String(state[0])}, which is not below epoch ${epoch}: ` +
          `the topic ${this.#model}.claims was recreated, so nobody can tell the newest writer. ` +
          'Stop every other updater, then run freshet sources --accept',
      );
    }
    return stateOf(state);
  }

  async commit(shard: ShardId, commit: Commit): Promise<CommitResult> {
    const keys = this.#keys(shard);
    const bodies = [...commit.bodies];
    const appended = bodies.filter(([, { isWhole }]) => !isWhole);
    const whole = bodies.filter(([, { isWhole }]) => isWhole);
    const touched = [
      keys.head,
      keys.vectors,
      keys.sums,
      keys.outbox,
      ...[...appended, ...whole].map(([id]) => keys.body(id)),
      ...commit.removed.map(keys.body),
    ];
    const reply = await this.#run.commitBatch(
      touched.length,
      ...touched,
      commit.epoch,
      commit.from,
      commit.next,
      commit.id,
      bytesOf(commit.sums),
      bytesOf(commit.outbox),
      encodeFacts(commit.facts),
      this.#seal,
      commit.vectors.size,
      commit.removed.length,
      appended.length,
      whole.length,
      ...[...commit.vectors].flatMap(([id, stored]) => [id, encodeVector(stored)]),
      ...commit.removed,
      ...[...appended, ...whole].map(([, { bytes }]) => bytesOf(bytes)),
    );
    const [code, detail] = reply as [number, Buffer];
    if (code === -2) throw foreignShard(shard.side, shard.shard, this.#model);
    return resultOf(code, detail);
  }

  async inspect(shard: ShardId): Promise<ShardState> {
    const keys = this.#keys(shard);
    return stateOf((await this.#run.inspect(3, keys.head, keys.sums, keys.outbox)) as Reply);
  }

  async head(shard: ShardId): Promise<ShardHead> {
    const { head } = this.#keys(shard);
    return headOf(await answered(this.#redis.hmgetBuffer(head, ...HEAD)));
  }

  async *vectors(shard: ShardId): AsyncIterable<readonly [string, StoredVector]> {
    const key = this.#keys(shard).vectors;
    let cursor = '0';
    do {
      const scan = this.#redis.hscanBuffer(key, cursor, 'COUNT', SCAN_COUNT);
      const [next, found] = await answered(scan);
      for (let at = 0; at + 1 < found.length; at += 2) {
        const [id, bytes] = [found[at], found[at + 1]];
        if (id && bytes) yield [id.toString(), decodeVector(bytes)];
      }
      cursor = next.toString();
    } while (cursor !== '0');
  }

  async load(shard: ShardId, ids: readonly string[]): Promise<StoredEntity[]> {
    const found: StoredEntity[] = [];
    for (let at = 0; at < ids.length; at += LOADED_AT_ONCE) {
      const reply = await this.#load(shard, ids.slice(at, at + LOADED_AT_ONCE));
      for (let one = HEAD.length; one < reply.length; one += 2) found.push(entityOf(reply, one));
    }
    return found;
  }

  async entity(shard: ShardId, id: string): Promise<PlacedEntity> {
    const reply = await this.#load(shard, [id]);
    return { ...headOf(reply), ...entityOf(reply, HEAD.length) };
  }

  async acceptLoss(topic: string, partition: number, loss: AcceptedLoss): Promise<void> {
    const field = lossField(topic, partition);
    await answered(this.#redis.hset(this.#manifestKey, field, JSON.stringify(loss)));
  }

  async acceptedLoss(topic: string, partition: number): Promise<AcceptedLoss | null> {
    const field = lossField(topic, partition);
    const found = await answered(this.#redis.hget(this.#manifestKey, field));
    return found === null ? null : JSON.parse(found);
  }

  async rebuild({ manifest, tuning }: Agreement, born: number): Promise<void> {
    const key = this.#manifestKey;
    const begun = { manifest: JSON.stringify(manifest), tuning: JSON.stringify(tuning) };
    // One transaction: a service that asks in between would begin the model by itself. And before
    // any shard is emptied: an updater that takes over an empty shard must see that the model
    // begins anew.
    const anew = this.#redis
      .multi()
      .del(key)
      .hset(key, { ...begun, born, rebuilt: born });
    await answered(anew.exec());
    for (let shard = 0; shard < manifest.shards; shard++) {
      for (const side of sides) await this.#empty({ side, shard });
    }
  }

  async close(): Promise<void> {
    await this.#redis.quit();
  }

  get #manifestKey(): string {
    return `${this.#model}:manifest`;
  }

  async #load(shard: ShardId, ids: readonly string[]): Promise<Reply> {
    const keys = this.#keys(shard);
    const read = [keys.head, keys.vectors, ...ids.map(keys.body)];
    return (await this.#run.load(read.length, ...read, ...ids)) as Reply;
  }

  /** Without a fence nobody can write meanwhile, or bodies without a vector would stay. */
  async #empty(shard: ShardId): Promise<void> {
    const { head, vectors, sums, outbox, body, row } = this.#keys(shard);
    const closed = this.#redis.multi().hset(head, 'emptying', 1).hdel(head, 'fence');
    await answered(closed.exec());
    let ids: string[] = [];
    const unlink = async () => {
      // Stores of an earlier format have rows in place of bodies.
      const keys = ids.flatMap((id) => [body(id), row(id)]);
      if (keys.length > 0) await answered(this.#redis.unlink(...keys));
      ids = [];
    };
    for await (const [id] of this.vectors(shard)) {
      ids.push(id);
      if (ids.length >= SCAN_COUNT) await unlink();
    }
    await unlink();
    await answered(this.#redis.unlink(head, vectors, sums, outbox));
  }

  #keys({ side, shard }: ShardId) {
    const tag = `${this.#model}:{${side[0]}:${shard}}`;
    return {
      // Stored under another name: stores that exist already have it.
      head: `${tag}:meta`,
      vectors: `${tag}:vectors`,
      sums: `${tag}:sums`,
      outbox: `${tag}:outbox`,
      body: (id: string) => `${tag}:body:${id}`,
      row: (id: string) => `${tag}:row:${id}`,
    };
  }
}

function lossField(topic: string, partition: number): string {
  return `loss:${topic}/${partition}`;
}

function resultOf(code: number, detail: Buffer): CommitResult {
  if (code === -1) return { kind: 'fenced', fence: Number(detail) };
  return code === 0 ? { kind: 'elsewhere', position: Number(detail) } : { kind: 'written' };
}

function stateOf([sums = null, outbox = null, ...head]: Reply): ShardState {
  return { sums, outbox, ...headOf(head) };
}

function headOf([fence, position, commit, facts]: Reply): ShardHead {
  return {
    fence: numberOf(fence),
    position: numberOf(position),
    commit: commit ? String(commit) : null,
    facts: facts ? decodeFacts(String(facts)) : NO_FACTS,
  };
}

function entityOf(reply: Reply, at: number): StoredEntity {
  const [vector, body] = [reply[at], reply[at + 1]];
  return { stored: vector ? decodeVector(vector) : null, body: body ?? null };
}

function numberOf(text: Buffer | null | undefined): number | null {
  return text ? Number(text) : null;
}

/** A script whose replies are bytes; ioredis sends its text again if Redis has lost it. */
function define(redis: Redis | Cluster, name: string, file: string): Script {
  const lua = readFileSync(new URL(`../lua/${file}`, import.meta.url), 'utf8');
  redis.defineCommand(name, { lua });
  const command: Script = Reflect.get(redis, `${name}Buffer`).bind(redis);
  return (...given) => answered(command(...given));
}

/** Errors of commands that are wrong, and stay wrong if they are retried. */
const WRONG = /^(ERR|WRONGTYPE|CROSSSLOT|NOSCRIPT)\b/;
const PASSING = /^ERR max number of clients/;

/** The reply to a command, or an error that has a verdict and holds nothing of the command. */
async function answered<T>(reply: Promise<T>): Promise<T> {
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
