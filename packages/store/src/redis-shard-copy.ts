/**
 * A copy of one shard as of one moment, read in many calls while its writer goes on. Commits keep
 * what they overwrite for the first time since that moment (commit.lua); a read takes what was kept
 * before what is there now. If nobody reads for 30 s, commits stop keeping and the copy is lost.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { CopyFailed, StoreAway } from './factor-store.ts';
import { type Scripts, scanHash } from './redis-connection.ts';
import type { ShardKeys } from './redis-keys.ts';
import { entityOf, type Reply, stateOf } from './redis-replies.ts';
import type { ShardCopy, ShardId, ShardState, StoredEntity } from './stored-shard.ts';

/** The longest pause between two reads; longer than a fail-over of Redis takes. */
const KEPT_SECONDS = 30;
/** Users or items in one call: about 1 ms, during which Redis serves nobody else. */
const READ_AT_ONCE = 64;
const TRY_AGAIN_MS = 500;

export class RedisShardCopy implements ShardCopy {
  private constructor(
    private readonly run: Scripts,
    private readonly keys: ShardKeys,
    /** How messages call the shard. */
    private readonly name: string,
    private readonly id: string,
    readonly state: ShardState,
  ) {}

  static async begin(
    run: Scripts,
    keys: ShardKeys,
    { side, shard }: ShardId,
  ): Promise<RedisShardCopy> {
    const [name, id] = [`${side} shard ${shard}`, randomUUID()];
    const place = [keys.head, keys.sums, keys.outbox, keys.copy];
    const reply = await patient(run.beginCopy)(4, ...place, id, KEPT_SECONDS);
    const [begun, ...state] = reply as [number, ...Reply];
    if (begun === -3) {
      throw new CopyFailed(
        `${name} is being emptied: wait until freshet rebuild has ended, or run it again if it was ` +
          'interrupted; then take another snapshot',
      );
    }
    if (begun !== 1) {
      throw new CopyFailed(
        `${name} is being copied already: one snapshot can be taken at a time, ` +
          `and one that was killed counts for ${KEPT_SECONDS} s`,
      );
    }
    const reading = { ...run, scan: patient(run.scan), readCopy: patient(run.readCopy) };
    return new RedisShardCopy(reading, keys, name, id, stateOf(state));
  }

  async *entities(): AsyncGenerator<readonly [string, StoredEntity], void> {
    for await (const found of scanHash(this.run, this.keys.vectors)) {
      yield* this.#read(found.map(([id]) => id.toString()));
    }
    // What was removed since the copy began is not in the hash any more; it is among what was kept.
    for await (const found of scanHash(this.run, this.keys.copy)) {
      const kept = found.map(([field]) => field.toString()).filter((name) => name.startsWith('v'));
      yield* this.#read(kept.map((name) => name.slice(1)));
    }
    await this.#load([]);
  }

  /** If Redis is away, commits stop keeping by themselves. */
  async close(): Promise<void> {
    await this.run.endCopy(2, this.keys.head, this.keys.copy, this.id).catch((error: unknown) => {
      if (!(error instanceof StoreAway)) throw error;
    });
  }

  async *#read(ids: readonly string[]): AsyncGenerator<readonly [string, StoredEntity], void> {
    for (let from = 0; from < ids.length; from += READ_AT_ONCE) {
      const some = ids.slice(from, from + READ_AT_ONCE);
      const reply = await this.#load(some);
      for (const [nth, id] of some.entries()) {
        const entity = entityOf(reply, 2 * nth);
        // Whoever came after the copy began was nobody then.
        if (entity.stored !== null) yield [id, entity];
      }
    }
  }

  async #load(ids: readonly string[]): Promise<Reply> {
    const { head, vectors, copy, body } = this.keys;
    const read = [head, vectors, copy, ...ids.map(body)];
    const reply = await this.run.readCopy(read.length, ...read, this.id, KEPT_SECONDS, ...ids);
    const [code, ...found] = reply as [number, ...Reply];
    if (code === 1) return found.map((bytes) => (bytes?.length ? bytes : null));
    throw new CopyFailed(
      code === 0
        ? `the copy of ${this.name} is lost: the model was rebuilt or restored meanwhile, ` +
            `or Redis lost writes, or nothing was read for ${KEPT_SECONDS} s`
        : `${this.name} is written by an updater of an earlier version, which cannot be copied ` +
            'beside its commits: update all updaters first',
    );
  }
}

/** Calls again while Redis is away, for as long as it keeps the copy. */
function patient<A extends unknown[]>(call: (...given: A) => Promise<unknown>) {
  return async (...given: A): Promise<unknown> => {
    const deadline = Date.now() + 1_000 * KEPT_SECONDS;
    for (;;) {
      try {
        return await call(...given);
      } catch (error) {
        if (!(error instanceof StoreAway) || Date.now() > deadline) throw error;
        await pause(TRY_AGAIN_MS);
      }
    }
  };
}
