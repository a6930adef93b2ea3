/** Under which keys does Redis hold a model? */
import type { ShardId } from './stored-shard.ts';

export type ShardKeys = ReturnType<typeof keysOf>;

/** All keys of a shard share a hash tag, so that Redis Cluster keeps them in one slot. */
export function keysOf(model: string, { side, shard }: ShardId) {
  const tag = `${model}:{${side[0]}:${shard}}`;
  return {
    // Stored under another name: stores that exist already have it.
    head: `${tag}:meta`,
    vectors: `${tag}:vectors`,
    sums: `${tag}:sums`,
    outbox: `${tag}:outbox`,
    /** While a copy is made: what commits have overwritten since it began. */
    copy: `${tag}:copy`,
    body: (id: string) => `${tag}:body:${id}`,
    row: (id: string) => `${tag}:row:${id}`,
  };
}
