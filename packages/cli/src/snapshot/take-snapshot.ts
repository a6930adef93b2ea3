/**
 * Writes everything that the store holds of a model to a file, while the services run. Each shard
 * is as of one moment, one shard after the other: that is enough, because a position is part of its
 * shard, and what comes after a position is in the log of the shard (docs/architecture.md).
 */
import { ShardSums } from '@freshet/model';
import {
  CopyFailed,
  type FactorStore,
  type SavedModel,
  type ShardId,
  type ShardState,
  shardIds,
} from '@freshet/store';
import { encodeAbout, encodeEntity, encodeHead } from './saved-blocks.ts';
import { SnapshotWriter } from './snapshot-file.ts';

interface Snapshot {
  readonly store: Pick<FactorStore, 'copyShard' | 'birth'>;
  readonly model: string;
  readonly saved: SavedModel;
  readonly path: string;
  readonly onProgress: (what: string, share: number) => void;
  /** Ends the snapshot early: it leaves neither a file nor a copy in the store. */
  readonly signal: AbortSignal;
}

/** Before it is compressed. Larger blocks are hardly smaller in the file. */
const BLOCK_BYTES = 1 << 20;

export async function takeSnapshot(snapshot: Snapshot) {
  const { model, saved, path, onProgress } = snapshot;
  const { shards, factorCount } = saved.manifest;
  const ids = shardIds(shards);
  const writer = await SnapshotWriter.create(path);
  const counts = { user: 0, item: 0, ratings: 0 };
  try {
    await writer.write('model', encodeAbout({ ...saved, model, taken: new Date().toISOString() }));
    for (const [done, id] of ids.entries()) {
      onProgress(`copying ${id.side} shard ${id.shard}`, done / ids.length);
      const { sums, facts } = await copyShard(snapshot, writer, id);
      // Not counted one by one: some users or items come twice in a copy.
      if (sums) counts[id.side] += ShardSums.fromBytes(id.side, sums, factorCount).gram.count;
      if (id.side === 'user') counts.ratings += facts.ratings;
    }
    await requireSame(snapshot);
    await writer.finish();
  } catch (error) {
    await writer.discard();
    throw error;
  }
  const { user: users, item: items, ratings } = counts;
  return { users, items, ratings, bytes: writer.bytes };
}

/** Shards of a model that was lost, rebuilt or restored in between do not belong together. */
async function requireSame({ store, saved }: Snapshot): Promise<void> {
  const now = await store.birth();
  if (now?.born === saved.born && now.rebuilt === saved.rebuilt) return;
  throw new CopyFailed('the model was lost, rebuilt or restored meanwhile: take another snapshot');
}

async function copyShard(
  { store, signal }: Snapshot,
  writer: SnapshotWriter,
  id: ShardId,
): Promise<ShardState> {
  const copy = await store.copyShard(id);
  try {
    await writer.write('shard', encodeHead(id, copy.state));
    let block: Buffer[] = [];
    let bytes = 0;
    const write = async (): Promise<void> => {
      if (block.length > 0) await writer.write('entities', Buffer.concat(block));
      block = [];
      bytes = 0;
    };
    for await (const [name, entity] of copy.entities()) {
      signal.throwIfAborted();
      const encoded = encodeEntity(name, entity);
      block.push(encoded);
      bytes += encoded.length;
      if (bytes >= BLOCK_BYTES) await write();
    }
    await write();
    return copy.state;
  } finally {
    await copy.close();
  }
}
