/**
 * The factor store in Redis, standalone or Cluster. All keys of a shard share one hash tag, so that
 * a commit is one script in one slot; Redis Cluster does the sharding.
 */
import { readFileSync } from 'node:fs';
import { Fault } from '@freshet/telemetry';
import { Cluster, Redis } from 'ioredis';
import {
  type Agreed,
  type Agreement,
  checkManifest,
  foreignShard,
  type Member,
  SIGN_OF_LIFE_MS,
  sealOf,
} from './agreement.ts';
import {
  type Commit,
  type CommitVerdict,
  type FactorStore,
  type ShardId,
  type ShardState,
  StaleEpoch,
  type StoredEntity,
  type StoredVector,
} from './factor-store.ts';
import { answered } from './redis-answer.ts';
import { decodeVector, encodeVector } from './vector-codec.ts';

/** Redis could not be reached at start: nothing to retry, the operator must look. */
export class RedisUnreachable extends Fault {
  override readonly name = 'RedisUnreachable';
  readonly verdict = 'stop';
}

/** ioredis spells any other bytes out as text. */
type Argument = string | number | Buffer;
type Script = (keyCount: number, ...keysAndArguments: Argument[]) => Promise<unknown>;
type Scripts = Record<'agree' | 'takeOver' | 'commitBatch' | 'inspect' | 'readEntity', Script>;
/** Gram, outbox, then the meta hash as name, value … */
type ShardReply = [Buffer | null, Buffer | null, ...Buffer[]];

const RETRY_LIMIT_MS = 2_000;
const SCAN_COUNT = 1_000;

const connection = {
  connectTimeout: 3_000,
  // Without a limit a command waits for ever on a server that is away, and nobody is told.
  commandTimeout: 5_000,
  maxRetriesPerRequest: 3,
  keepAlive: 10_000,
  retryStrategy: (attempt: number) =>
    Math.min(50 * 2 ** attempt, RETRY_LIMIT_MS) * (0.9 + attempt / 100),
};

const cluster = {
  redisOptions: connection,
  scaleReads: 'master' as const,
  slotsRefreshTimeout: 2_000,
  slotsRefreshInterval: 5_000, // heals connections that went on asking a node that moved its slots
  retryDelayOnFailover: 200,
  retryDelayOnClusterDown: 200,
  maxRedirections: 16,
};

export class RedisStore implements FactorStore {
  readonly #redis: Redis | Cluster;
  readonly #run: Scripts;
  readonly #model: string;
  /** Of the manifest that was agreed on; empty before. */
  #seal = '';

  private constructor(redis: Redis | Cluster, model: string) {
    this.#redis = redis;
    this.#model = model;
    this.#run = {
      agree: define(redis, 'freshetAgree', 'agree.lua'),
      takeOver: define(redis, 'freshetTakeOver', 'take-over.lua'),
      commitBatch: define(redis, 'freshetCommit', 'commit.lua'),
      inspect: define(redis, 'freshetInspect', 'inspect.lua'),
      readEntity: define(redis, 'freshetReadEntity', 'read-entity.lua'),
    };
  }

  static async open(
    urls: readonly string[],
    model: string,
    onError: (error: Error) => void,
  ): Promise<RedisStore> {
    const [first] = urls;
    if (first === undefined) throw new RangeError('no Redis URL');
    const redis =
      urls.length === 1 ? new Redis(first, connection) : new Cluster([...urls], cluster);
    // A listener must be there, or ioredis prints; commands report their own failures.
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
    const [kind, ...details] = (reply as (Buffer | number)[]).map(String);
    const [first = '', second = ''] = details;
    if (kind === 'absent') return { kind };
    if (kind === 'tuned') return { kind, tuning: JSON.parse(first), others: Number(second) };
    if (kind === 'differs') checkManifest(JSON.parse(first), manifest, this.#model);
    this.#seal = sealOf(manifest);
    return {
      kind: 'agreed',
      born: Number(first),
      former: second === '' ? null : JSON.parse(second),
    };
  }

  async leave(memberId: string): Promise<void> {
    await answered(this.#redis.hdel(this.#manifestKey, `member:${memberId}`));
  }

  async birth(): Promise<number | null> {
    const born = await answered(this.#redis.hget(this.#manifestKey, 'born'));
    return born === null ? null : Number(born);
  }

  async takeOver(shard: ShardId, epoch: number): Promise<ShardState> {
    const keys = this.#keys(shard);
    const place = [keys.meta, keys.gram, keys.outbox];
    const reply = await this.#run.takeOver(3, ...place, epoch, this.#seal);
    const [taken, ...state] = reply as [number, ...ShardReply];
    if (taken === -2) throw foreignShard(shard.side, shard.shard, this.#model);
    if (taken !== 1) {
      throw new StaleEpoch(
        `shard ${shard.side} ${shard.shard} is fenced at ${String(state[0])}, above claim ${epoch}: the topic ${this.#model}.claims was recreated, so that writers can no longer be told apart; stop every other updater, then run freshet sources --accept`,
      );
    }
    return shardState(state);
  }

  async commit(shard: ShardId, commit: Commit): Promise<CommitVerdict> {
    const keys = this.#keys(shard);
    const appends = [...commit.rowAppends];
    const facts = Object.entries(commit.facts);
    const touched = [
      keys.meta,
      keys.vectors,
      keys.gram,
      keys.outbox,
      ...appends.map(([id]) => keys.row(id)),
      ...commit.removed.map(keys.row),
    ];
    const reply = await this.#run.commitBatch(
      touched.length,
      ...touched,
      commit.epoch,
      commit.from,
      commit.next,
      commit.id,
      bufferOf(commit.gram),
      bufferOf(commit.outbox),
      facts.length,
      commit.vectors.size,
      commit.removed.length,
      appends.length,
      this.#seal,
      ...facts.flat(),
      ...[...commit.vectors].flatMap(([id, stored]) => [id, encodeVector(stored)]),
      ...commit.removed,
      ...appends.map(([, bytes]) => bufferOf(bytes)),
    );
    const [code, detail] = reply as [number, Buffer];
    if (code === -2) throw foreignShard(shard.side, shard.shard, this.#model);
    return verdictOf(code, detail);
  }

  async inspect(shard: ShardId): Promise<ShardState> {
    const keys = this.#keys(shard);
    const reply = await this.#run.inspect(3, keys.meta, keys.gram, keys.outbox);
    return shardState(reply as ShardReply);
  }

  async facts(shard: ShardId): Promise<Readonly<Record<string, string>>> {
    return answered(this.#redis.hgetall(this.#keys(shard).meta));
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

  async rows(shard: ShardId, ids: readonly string[]): Promise<(Uint8Array | null)[]> {
    if (ids.length === 0) return [];
    return answered(this.#redis.mgetBuffer(...ids.map(this.#keys(shard).row)));
  }

  async entity(shard: ShardId, id: string): Promise<StoredEntity> {
    const keys = this.#keys(shard);
    const reply = await this.#run.readEntity(3, keys.meta, keys.vectors, keys.row(id), id);
    const [position, vector, row] = reply as (Buffer | null)[];
    return {
      position: positionOf(position?.toString()),
      vector: vector ? decodeVector(vector).vector : null,
      row: row ?? null,
    };
  }

  async close(): Promise<void> {
    await this.#redis.quit();
  }

  get #manifestKey(): string {
    return `${this.#model}:manifest`;
  }

  #keys({ side, shard }: ShardId) {
    const tag = `${this.#model}:{${side[0]}:${shard}}`;
    return {
      meta: `${tag}:meta`,
      vectors: `${tag}:vectors`,
      gram: `${tag}:gram`,
      outbox: `${tag}:outbox`,
      row: (id: string) => `${tag}:row:${id}`,
    };
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function verdictOf(code: number, detail: Buffer): CommitVerdict {
  if (code === -1) return { kind: 'fenced', fence: Number(detail) };
  return code === 0 ? { kind: 'elsewhere', position: Number(detail) } : { kind: 'written' };
}

function shardState([gram, outbox, ...meta]: ShardReply): ShardState {
  const facts = pairs(meta);
  return { position: positionOf(facts.position), gram, outbox, facts };
}

function positionOf(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

function pairs(flat: readonly Buffer[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (let at = 0; at + 1 < flat.length; at += 2) record[String(flat[at])] = String(flat[at + 1]);
  return record;
}

/** Loads a script so that replies come as bytes; ioredis sends its text again if Redis forgot it. */
function define(redis: Redis | Cluster, name: string, file: string): Script {
  const lua = readFileSync(new URL(`../lua/${file}`, import.meta.url), 'utf8');
  redis.defineCommand(name, { lua });
  const command: Script = Reflect.get(redis, `${name}Buffer`).bind(redis);
  return (...given) => answered(command(...given));
}
