/** What one commit moved in one shard, as replicas read it. */
import type { FactorBatch } from '@freshet/events';
import type { Shard, ShardChanges } from './shard.ts';

type Head = Omit<FactorBatch, 'ids' | 'vectors' | 'counts' | 'trends' | 'times' | 'deletes'>;

export function factorBatch(head: Head, changes: ShardChanges, shard: Shard): FactorBatch {
  const moved = [...changes.vectors].filter(([, { vector }]) => vector.length > 0);
  const emptied = [...changes.vectors].filter(([, { vector }]) => vector.length === 0);
  const removed = changes.removed.filter((id) => !changes.vectors.has(id));
  const vectors = new Float32Array(moved.length * head.factorCount);
  const counts = new Uint32Array(moved.length);
  const trends = new Float64Array(moved.length);
  const times = new Float64Array(moved.length);
  moved.forEach(([id, { vector, trend }], at) => {
    const { count, newestTime } = shard.activity(id);
    vectors.set(vector, at * head.factorCount);
    counts[at] = count;
    trends[at] = trend;
    times[at] = newestTime;
  });
  const ids = moved.map(([id]) => id);
  return {
    ...head,
    ids,
    vectors,
    counts,
    trends,
    times,
    deletes: [...removed, ...emptied.map(([id]) => id)],
  };
}
