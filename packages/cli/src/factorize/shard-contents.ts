/** What goes into each shard: the vectors that were learnt and the rows that were judged, side by side. */
import { shardOf } from '@freshet/events';
import type { OnlineModel, SideState } from '@freshet/model';
import { NO_TREND } from '@freshet/model';
import type { RowEntry, ShardId, StoredVector } from '@freshet/store';
import type { JudgedLog } from './judged-log.ts';

export interface ShardEntity {
  readonly id: string;
  readonly stored: StoredVector;
  readonly row: readonly RowEntry[];
  /** Ratings in the row; the rest are tombstones. */
  readonly rated: number;
}

const NO_VECTOR = new Float32Array();

export function* shardContents(
  { side, shard }: ShardId,
  log: JudgedLog,
  model: OnlineModel,
  partitions: number,
): Generator<ShardEntity> {
  const rows =
    side === 'user' ? userRows(log, shard, partitions) : itemRows(log, shard, partitions);
  const state = side === 'user' ? model.users : model.items;
  for (const [id, trend, row] of rows) {
    const rated = row.filter(({ value }) => value !== null).length;
    yield { id, stored: { vector: vectorOf(id, state, rated), trend }, row, rated };
  }
}

type OwnedRow = readonly [id: string, trend: number, row: readonly RowEntry[]];

function* userRows(log: JudgedLog, shard: number, partitions: number): Generator<OwnedRow> {
  for (const [user, { trend, row }] of log.users) {
    if (shardOf(user, partitions) === shard) yield [user, trend, [...row.values()]];
  }
}

/** One shard at a time: the transpose of everything would hold every rating once more. */
function* itemRows(log: JudgedLog, shard: number, partitions: number): Generator<OwnedRow> {
  const rows = new Map<string, RowEntry[] | undefined>();
  for (const [user, { row }] of log.users) {
    for (const { neighbour: item, value, time } of row.values()) {
      if (value === null) continue;
      if (!rows.has(item)) rows.set(item, shardOf(item, partitions) === shard ? [] : undefined);
      rows.get(item)?.push({ neighbour: user, value, time });
    }
  }
  for (const [item, row] of rows) {
    if (row === undefined) continue;
    row.sort((a, b) => a.time - b.time);
    yield [item, log.itemTrends.get(item) ?? NO_TREND, row];
  }
}

function vectorOf(id: string, state: SideState, rated: number): Float32Array {
  if (rated === 0) return NO_VECTOR;
  const slot = state.slotOf(id);
  if (slot === undefined) throw new Error(`no vector was learnt for a ${state.side} with ratings`);
  const vector = new Float32Array(state.gram.factorCount);
  state.vectors.read(slot, vector);
  return vector;
}
