/**
 * What the blocks of a snapshot hold: first the model as JSON, then for each shard its head as JSON
 * and its users or items, packed as the store keeps them. The manifest names the store format.
 */
import {
  decodeFacts,
  decodeVector,
  encodeFacts,
  encodeVector,
  type SavedModel,
  type SavedShard,
  type ShardId,
  type ShardState,
  type StoredEntity,
} from '@freshet/store';

/** The first block. */
export interface SavedAbout extends SavedModel {
  readonly model: string;
  /** When the snapshot was begun. */
  readonly taken: string;
}

export type SavedHead = Pick<SavedShard, 'id' | 'state'> & {
  /** The highest epoch that the shard has known. */
  readonly epoch: number;
};

export function encodeAbout(about: SavedAbout): Buffer {
  return Buffer.from(JSON.stringify(about));
}

export function decodeAbout(content: Buffer): SavedAbout {
  return JSON.parse(content.toString());
}

export function encodeHead(id: ShardId, state: ShardState): Buffer {
  const { fence, position, commit, facts, sums, outbox } = state;
  const epoch = Math.max(fence ?? 0, facts.epoch);
  const bytes = { sums: base64(sums), outbox: base64(outbox) };
  const head = { ...id, epoch, position, commit, facts: encodeFacts(facts), ...bytes };
  return Buffer.from(JSON.stringify(head));
}

export function decodeHead(content: Buffer): SavedHead {
  const { side, shard, epoch, position, commit, facts, sums, outbox } = JSON.parse(
    content.toString(),
  );
  const bytes = { sums: fromBase64(sums), outbox: fromBase64(outbox) };
  const state = { position, commit, facts: decodeFacts(facts), ...bytes };
  return { id: { side, shard }, state, epoch };
}

/** The length of nothing: 0 is the length of an empty body. */
const NOTHING = 2 ** 32 - 1;

export function encodeEntity(id: string, { stored, body }: StoredEntity): Buffer {
  const parts = [Buffer.from(id), stored && encodeVector(stored), body];
  const pieces = parts.flatMap((part) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(part ? part.length : NOTHING);
    return part ? [length, part] : [length];
  });
  return Buffer.concat(pieces);
}

export function* decodeEntities(
  content: Buffer,
): Generator<readonly [id: string, entity: StoredEntity], void> {
  let at = 0;
  const next = (): Buffer | null => {
    const length = content.readUInt32LE(at);
    at += 4;
    if (length === NOTHING) return null;
    at += length;
    return content.subarray(at - length, at);
  };
  while (at < content.length) {
    const [id, vector, body] = [next(), next(), next()];
    yield [String(id), { stored: vector && decodeVector(vector), body }];
  }
}

function base64(bytes: Uint8Array | null): string | null {
  return bytes && Buffer.from(bytes).toString('base64');
}

function fromBase64(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(text, 'base64');
}
