/**
 * Reads a snapshot. The whole file is verified before anything of it is used, so it is read twice:
 * once for the heads of all shards, and once more, shard by shard, to be written.
 */
import { sides } from '@freshet/events';
import type { SavedShard, StoredEntity } from '@freshet/store';
import { CannotWork } from '../operator-command.ts';
import {
  decodeAbout,
  decodeEntities,
  decodeHead,
  type SavedAbout,
  type SavedHead,
} from '../snapshot/saved-blocks.ts';
import { type Block, readBlocks } from '../snapshot/snapshot-file.ts';

export interface VerifiedSnapshot {
  readonly about: SavedAbout;
  /** Of every shard of both sides. */
  readonly heads: readonly SavedHead[];
}

type OnShare = (share: number) => void;

export async function verifySnapshot(path: string, onShare: OnShare): Promise<VerifiedSnapshot> {
  let about: SavedAbout | undefined;
  const heads: SavedHead[] = [];
  for await (const { kind, content, share } of readBlocks(path)) {
    if (kind === 'model') about = decodeAbout(content);
    if (kind === 'shard') heads.push(decodeHead(content));
    onShare(share);
  }
  const found = new Set(heads.map(({ id }) => `${id.side}:${id.shard}`));
  if (about === undefined || found.size !== sides.length * about.manifest.shards) {
    throw new CannotWork(`${path} does not hold every shard of a model: use another snapshot`);
  }
  return { about, heads };
}

/** The shards in the order of the file. Each must be read to its end before the next. */
export async function* savedShards(path: string, onShare: OnShare): AsyncGenerator<SavedShard> {
  const blocks = readBlocks(path);
  let block = await next(blocks, onShare);
  async function* entities(): AsyncGenerator<readonly [string, StoredEntity], void> {
    for (; block?.kind === 'entities'; block = await next(blocks, onShare)) {
      yield* decodeEntities(block.content);
    }
  }
  while (block !== undefined) {
    const { kind, content }: Block = block;
    block = await next(blocks, onShare);
    if (kind === 'shard') yield { ...decodeHead(content), entities: entities() };
  }
}

async function next(
  blocks: AsyncGenerator<Block, void>,
  onShare: OnShare,
): Promise<Block | undefined> {
  const { value } = await blocks.next();
  if (value) onShare(value.share);
  return value ?? undefined;
}
