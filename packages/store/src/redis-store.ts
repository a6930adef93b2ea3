/**
 * The factor store in Redis, standalone or Cluster. All keys of a shard share one hash tag, so that
 * a commit is one script in one slot; Redis Cluster distributes the slots.
 */
import { bytesOf } from '@freshet/events';
import {
  type Agreed,
  type Agreement,
  checkManifest,
  foreignShard,
  type Member,
  ModelRestoring,
  type SavedModel,
  SIGN_OF_LIFE_MS,
  sealOf,
} from './agreement.ts';
import {
  type AcceptedLoss,
  type Commit,
  type FactorStore,
  StaleEpoch,
  StoreAway,
} from './factor-store.ts';
import type { Connection, RedisServers, Scripts } from './redis-connection.ts';
import { answered, executed, openRedis, scanHash, scriptsOf } from './redis-connection.ts';
import { keysOf } from './redis-keys.ts';
import { entityOf, HEAD, headOf, type Reply, resultOf, stateOf } from './redis-replies.ts';
import { RedisReservation } from './redis-reservation.ts';
import { RedisShardCopy } from './redis-shard-copy.ts';
import { closeShard, emptyShard, fillShard, requireFilled } from './redis-shard-writes.ts';
import { encodeFacts } from './shard-facts.ts';
import {
  type SavedShard,
  type ShardId,
  type StoredEntity,
  type StoredVector,
  shardIds,
} from './stored-shard.ts';
import { decodeVector, encodeVector } from './vector-codec.ts';

/** The most users or items in one call: while a script runs, Redis serves nobody else. */
const LOADED_AT_ONCE = 1_000;

export class RedisStore implements FactorStore {
  readonly #run: Scripts;
  readonly #manifestKey: string;
  /** The hash of the manifest that was agreed on; empty before. */
  #seal = '';

  private constructor(
    private readonly redis: Connection,
    private readonly model: string,
  ) {
    this.#run = scriptsOf(redis);
    this.#manifestKey = `${model}:manifest`;
  }

  static async open(
    servers: RedisServers,
    model: string,
    onError: (error: Error) => void,
  ): Promise<RedisStore> {
    return new RedisStore(await openRedis(servers, onError), model);
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
    if (kind === 'restoring') throw new ModelRestoring(this.model);
    if (kind === 'tuned') return { kind, tuning: JSON.parse(first), others: Number(second) };
    if (kind === 'differs') checkManifest(JSON.parse(first), manifest, this.model);
    this.#seal = sealOf(manifest);
    const former = third === '' ? null : JSON.parse(third);
    return { kind: 'agreed', born: Number(first), rebuilt: Number(second), former };
  }

  async leave(memberId: string): Promise<void> {
    await answered(this.redis.hdel(this.#manifestKey, `member:${memberId}`));
  }

  async birth() {
    const found = await answered(this.redis.hmget(this.#manifestKey, 'born', 'rebuilt'));
    const [born = null, rebuilt = null] = found;
    return born === null ? null : { born: Number(born), rebuilt: Number(rebuilt ?? 0) };
  }

  async takeOver(shard: ShardId, epoch: number) {
    const keys = this.#keys(shard);
    const place = [keys.head, keys.sums, keys.outbox];
    const reply = await this.#run.takeOver(3, ...place, epoch, this.#seal);
    const [taken, ...state] = reply as [number, ...Reply];
    if (taken === -2) throw foreignShard(shard.side, shard.shard, this.model);
    const name = `${shard.side} shard ${shard.shard}`;
    if (taken === -3) {
      throw new StoreAway(
        `${name} is being emptied or restored. If \`freshet rebuild\` or \`freshet restore\` was ` +
          'interrupted, run it again',
      );
    }
    if (taken !== 1) {
      throw new StaleEpoch(
        `${name} has fence ${String(state[0])}, which is not below epoch ${epoch}: ` +
          `the topic ${this.model}.claims was recreated, so nobody can tell the newest writer. ` +
          'Stop every other updater, then run freshet sources --accept',
      );
    }
    return stateOf(state);
  }

  async commit(shard: ShardId, commit: Commit) {
    const keys = this.#keys(shard);
    const bodies = [...commit.bodies];
    const appended = bodies.filter(([, { isWhole }]) => !isWhole);
    const whole = bodies.filter(([, { isWhole }]) => isWhole);
    const touched = [
      keys.head,
      keys.vectors,
      keys.sums,
      keys.outbox,
      keys.copy,
      ...[...appended, ...whole].map(([id]) => keys.body(id)),
      ...commit.removed.map(keys.body),
    ];
    const reply = await this.#run.commit(
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
    if (code === -2) throw foreignShard(shard.side, shard.shard, this.model);
    return resultOf(code, detail);
  }

  async inspect(shard: ShardId) {
    const keys = this.#keys(shard);
    return stateOf((await this.#run.inspect(3, keys.head, keys.sums, keys.outbox)) as Reply);
  }

  async head(shard: ShardId) {
    const { head } = this.#keys(shard);
    return headOf(await answered(this.redis.hmgetBuffer(head, ...HEAD)));
  }

  async *vectors(shard: ShardId): AsyncIterable<readonly [string, StoredVector]> {
    for await (const found of scanHash(this.#run, this.#keys(shard).vectors)) {
      for (const [id, bytes] of found) yield [id.toString(), decodeVector(bytes)];
    }
  }

  async load(shard: ShardId, ids: readonly string[]): Promise<StoredEntity[]> {
    const found: StoredEntity[] = [];
    for (let at = 0; at < ids.length; at += LOADED_AT_ONCE) {
      const reply = await this.#load(shard, ids.slice(at, at + LOADED_AT_ONCE));
      for (let one = HEAD.length; one < reply.length; one += 2) found.push(entityOf(reply, one));
    }
    return found;
  }

  async entity(shard: ShardId, id: string) {
    const reply = await this.#load(shard, [id]);
    return { ...headOf(reply), ...entityOf(reply, HEAD.length) };
  }

  async acceptLoss(topic: string, partition: number, loss: AcceptedLoss): Promise<void> {
    const field = lossField(topic, partition);
    await answered(this.redis.hset(this.#manifestKey, field, JSON.stringify(loss)));
  }

  async acceptedLoss(topic: string, partition: number): Promise<AcceptedLoss | null> {
    const field = lossField(topic, partition);
    const found = await answered(this.redis.hget(this.#manifestKey, field));
    return found === null ? null : JSON.parse(found);
  }

  async rebuild({ manifest, tuning }: Agreement, born: number): Promise<void> {
    const key = this.#manifestKey;
    const begun = { manifest: JSON.stringify(manifest), tuning: JSON.stringify(tuning) };
    const anew = { ...begun, born, rebuilt: born };
    const all = shardIds(manifest.shards).map((id) => this.#keys(id));
    // All at first: if this is interrupted, nobody learns the sources again on top of what is left.
    for (const keys of all) await closeShard(this.redis, keys);
    // One transaction: a service that asks in between would begin the model by itself. And before
    // any shard is emptied: whoever takes over an empty shard must see that the model begins anew.
    await executed(this.redis.multi().del(key).hset(key, anew));
    for (const keys of all) await emptyShard(this.redis, this.#run, keys);
  }

  async savedModel(): Promise<SavedModel | null> {
    const found = await answered(this.redis.hgetall(this.#manifestKey));
    const { manifest, tuning, born, rebuilt = 0 } = found;
    if (manifest === undefined || tuning === undefined || born === undefined) return null;
    const losses = Object.entries(found)
      .filter(([field]) => field.startsWith(LOSS))
      .map(([field, loss]) => [field.slice(LOSS.length), JSON.parse(loss)]);
    return {
      manifest: JSON.parse(manifest),
      tuning: JSON.parse(tuning),
      born: Number(born),
      rebuilt: Number(rebuilt),
      losses: Object.fromEntries(losses),
    };
  }

  async occupation() {
    const found = await answered(this.redis.hgetall(this.#manifestKey));
    const [seconds, microseconds] = await answered(this.redis.time());
    const now = 1_000 * Number(seconds) + Number(microseconds) / 1_000;
    const members = Object.entries(found).filter(([field, until]) => {
      return field.startsWith('member:') && Number(until) > now;
    });
    return { members: members.length, isRestoring: found.restoring !== undefined };
  }

  copyShard(shard: ShardId) {
    return RedisShardCopy.begin(this.#run, this.#keys(shard), shard);
  }

  async restoreModel(model: SavedModel, shards: AsyncIterable<SavedShard>): Promise<void> {
    const { manifest, tuning, born, rebuilt, losses } = model;
    const key = this.#manifestKey;
    // Until the last step no service can join the model.
    const reservation = await RedisReservation.begin(this.redis, this.#run, key);
    try {
      const reserved = () => reservation.renew();
      const all = shardIds(manifest.shards).map((id) => this.#keys(id));
      for (const keys of all) await emptyShard(this.redis, this.#run, keys, reserved);
      const seal = sealOf(manifest);
      for await (const saved of shards) {
        await fillShard(this.redis, this.#keys(saved.id), saved, seal, reserved);
      }
      for (const keys of all) await requireFilled(this.redis, keys);
      await reserved();
    } catch (error) {
      await reservation.release().catch(() => {});
      throw error;
    }
    const texts = { manifest: JSON.stringify(manifest), tuning: JSON.stringify(tuning) };
    const whole = { ...texts, born, ...(rebuilt > 0 ? { rebuilt } : {}) };
    for (const [place, loss] of Object.entries(losses)) {
      Object.assign(whole, { [`${LOSS}${place}`]: JSON.stringify(loss) });
    }
    await executed(this.redis.multi().del(key).hset(key, whole));
  }

  async close(): Promise<void> {
    await this.redis.quit();
    // It also listens to Sentinels for fail-overs: a process with such a connection never ends.
    this.redis.disconnect();
  }

  async #load(shard: ShardId, ids: readonly string[]): Promise<Reply> {
    const keys = this.#keys(shard);
    const read = [keys.head, keys.vectors, ...ids.map(keys.body)];
    return (await this.#run.load(read.length, ...read, ...ids)) as Reply;
  }

  #keys(shard: ShardId) {
    return keysOf(this.model, shard);
  }
}

const LOSS = 'loss:';

function lossField(topic: string, partition: number): string {
  return `${LOSS}${topic}/${partition}`;
}
