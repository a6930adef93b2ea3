/** The shards of a model, and how far each is. */
import { sides } from '@freshet/events';
import type { FactorStore, ShardHead, ShardId } from '@freshet/store';

/** Of both sides, user shards first. */
export function shardIds(shards: number): ShardId[] {
  return sides.flatMap((side) => Array.from({ length: shards }, (_, shard) => ({ side, shard })));
}

export function headsOf(store: Pick<FactorStore, 'head'>, shards: number): Promise<ShardHead[]> {
  return Promise.all(shardIds(shards).map((id) => store.head(id)));
}
