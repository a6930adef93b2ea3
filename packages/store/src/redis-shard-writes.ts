/**
 * Empties a shard in Redis, or fills it from a snapshot, in as many steps as that takes. While the
 * head has the field `emptying` nobody can take the shard over, and without a fence nobody can
 * commit: so a shard that is half written is never used.
 */
import { bytesOf } from '@freshet/events';
import { CopyFailed } from './factor-store.ts';
import { answered, type Connection, executed, type Scripts, scanHash } from './redis-connection.ts';
import type { ShardKeys } from './redis-keys.ts';
import { encodeFacts } from './shard-facts.ts';
import type { SavedShard } from './stored-shard.ts';
import { encodeVector } from './vector-codec.ts';

/** What one transaction writes: about 5 ms, during which Redis serves nobody else. */
const limits = { entities: 500, bytes: 1 << 20 } as const;

const LOST_WRITES =
  'the restore is not finished: Redis lost what it had acknowledged. Run it again';

/** From now on nobody can commit to the shard or take it over, until it is emptied or filled. */
export async function closeShard(redis: Connection, { head }: ShardKeys): Promise<void> {
  await executed(redis.multi().hset(head, 'emptying', 1).hdel(head, 'fence'));
}

/**
 * `reserved`: given by a restore, which fills the shard afterwards; it renews the reservation.
 * Until the shard is filled, nobody can take it over. Without it, anybody can at once.
 */
export async function emptyShard(
  redis: Connection,
  run: Scripts,
  keys: ShardKeys,
  reserved?: () => Promise<void>,
): Promise<void> {
  const { head, vectors, sums, outbox, copy, body, row } = keys;
  await reserved?.();
  await closeShard(redis, keys);
  for await (const found of scanHash(run, vectors)) {
    await reserved?.();
    const ids = found.map(([id]) => id.toString());
    // Stores of an earlier format have rows in place of bodies.
    const bodies = ids.flatMap((id) => [body(id), row(id)]);
    if (bodies.length > 0) await answered(redis.unlink(...bodies));
  }
  const emptied = redis.multi().unlink(head, vectors, sums, outbox, copy);
  if (reserved) emptied.hset(head, 'emptying', 1);
  await executed(emptied);
}

/** Fills a shard that was emptied, and lets updaters take it over. */
export async function fillShard(
  redis: Connection,
  keys: ShardKeys,
  { state, entities }: SavedShard,
  seal: string,
  reserved: () => Promise<void>,
): Promise<void> {
  let slice = redis.multi();
  let [count, bytes, slices] = [0, 0, 1];
  const write = async (): Promise<void> => {
    await reserved();
    // `emptying` counts the slices: a fail-over may lose some that were acknowledged.
    slice.hincrby(keys.head, 'emptying', 1);
    if ((await executed(slice)) !== ++slices) throw new CopyFailed(LOST_WRITES);
    slice = redis.multi();
    [count, bytes] = [0, 0];
  };
  for await (const [id, { stored, body }] of entities) {
    // In one transaction: a body without its vector would not be found by whoever empties.
    const vector = stored && encodeVector(stored);
    if (vector) slice.hset(keys.vectors, id, vector);
    if (body) slice.set(keys.body(id), bytesOf(body));
    count++;
    bytes += (vector?.length ?? 0) + (body?.length ?? 0);
    if (count >= limits.entities || bytes >= limits.bytes) await write();
  }
  await write();
  const last = redis.multi().unlink(keys.head);
  const { position, commit, facts, sums, outbox } = state;
  if (sums) last.set(keys.sums, bytesOf(sums));
  if (outbox) last.set(keys.outbox, bytesOf(outbox));
  last.hset(keys.head, { facts: encodeFacts(facts), seal });
  if (commit !== null) last.hset(keys.head, 'commit', commit);
  if (position !== null) last.hset(keys.head, 'position', position);
  await executed(last);
}

/** A fail-over may also lose the end of a shard that was filled before. */
export async function requireFilled(redis: Connection, keys: ShardKeys): Promise<void> {
  const isOpen = (await answered(redis.hexists(keys.head, 'emptying'))) === 0;
  if (!isOpen) throw new CopyFailed(LOST_WRITES);
}
