/** How far each shard of a model is, user shards first. */
import { type FactorStore, type ShardHead, shardIds } from '@freshet/store';

export function headsOf(store: Pick<FactorStore, 'head'>, shards: number): Promise<ShardHead[]> {
  return Promise.all(shardIds(shards).map((id) => store.head(id)));
}
