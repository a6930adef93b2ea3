/** A store as an updater would have left it, written straight into Redis: what a scorer starts from. */
import { shardOf } from '@freshet/events';
import { ShardSums } from '@freshet/model';
import { type Commit, encodeRow, type FactorStore, NO_FACTS } from '@freshet/store';

export interface Entity {
  readonly id: string;
  readonly vector: Float32Array;
  /** Of an item; none of a user. */
  readonly figures: Float64Array;
  readonly row: readonly { readonly neighbour: string; readonly value: number }[];
  /** Of an item: what was rated before it. */
  readonly list?: Uint8Array;
}

const ENTITIES_PER_COMMIT = 1_000;
/** Below every epoch that a claim gives. */
export const EPOCH = 0;

export async function fillSide(
  store: FactorStore,
  side: 'user' | 'item',
  partitions: number,
  entities: Iterable<Entity>,
): Promise<void> {
  const positions = new Array<number>(partitions).fill(0);
  const pending = Array.from({ length: partitions }, (): Entity[] => []);
  const parts = new Map<number, ShardSums>();
  for (let shard = 0; shard < partitions; shard++) await store.takeOver({ side, shard }, EPOCH);
  const flush = async (shard: number): Promise<void> => {
    const from = positions[shard] ?? 0;
    const batch = pending[shard] ?? [];
    positions[shard] = from + 1;
    pending[shard] = [];
    const sums = parts.get(shard) ?? ShardSums.zero(side, batch[0]?.vector.length ?? 0);
    parts.set(shard, sums);
    for (const { vector } of batch) sums.gram.move(undefined, vector);
    await store.commit({ side, shard }, commitOf(batch, from, sums));
  };
  for (const entity of entities) {
    const shard = shardOf(entity.id, partitions);
    pending[shard]?.push(entity);
    if ((pending[shard]?.length ?? 0) >= ENTITIES_PER_COMMIT) await flush(shard);
  }
  for (let shard = 0; shard < partitions; shard++) await flush(shard);
}

function commitOf(batch: readonly Entity[], from: number, sums: ShardSums): Commit {
  const rated = batch.filter(({ row }) => row.length > 0);
  return {
    epoch: EPOCH,
    id: `fill ${from}`,
    from,
    next: from + 1,
    vectors: new Map(
      batch.map(({ id, vector, figures, list }) => {
        const stored = { vector, figures };
        return [id, list === undefined ? stored : { ...stored, list }];
      }),
    ),
    removed: [],
    bodies: new Map(rated.map(({ id, row }) => [id, { bytes: bytesOf(row), isWhole: true }])),
    sums: sums.toBytes(),
    outbox: new Uint8Array(),
    facts: { ...NO_FACTS, epoch: EPOCH, sequence: from },
  };
}

function bytesOf(row: Entity['row']): Uint8Array {
  return encodeRow(row.map((rating) => ({ ...rating, time: 0 })));
}
