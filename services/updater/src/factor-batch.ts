/** What one commit moved in one shard, as replicas read it. */
import type { FactorBatch } from '@freshet/events';
import type { Shard, ShardChanges } from './shard.ts';

type Head = Omit<FactorBatch, 'ids' | 'vectors' | 'counts' | 'trends' | 'times' | 'deletes'>;

export function factorBatch(head: Head, changes: ShardChanges, shard: Shard): FactorBatch {
  const ids: string[] = [];
  const deletes = changes.removed.filter((id) => !changes.vectors.has(id));
  for (const [id, { vector }] of changes.vectors) (vector.length > 0 ? ids : deletes).push(id);
  const vectors = new Float32Array(ids.length * head.factorCount);
  const counts = new Uint32Array(ids.length);
  const trends = new Float64Array(ids.length);
  const times = new Float64Array(ids.length);
  ids.forEach((id, at) => {
    const entity = shard.entity(id);
    if (entity?.vector === undefined) throw new Error('a moved vector is not in its shard');
    vectors.set(entity.vector, at * head.factorCount);
    counts[at] = entity.count;
    trends[at] = entity.trend;
    times[at] = entity.newestTime;
  });
  return { ...head, ids, vectors, counts, trends, times, deletes };
}
