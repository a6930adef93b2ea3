/** The factor store in memory: the same contract as Redis, for tests that need no server. */
import {
  type Commit,
  type CommitVerdict,
  checkManifest,
  type FactorStore,
  type Manifest,
  type ShardId,
  type ShardState,
  StaleEpoch,
  type StoredEntity,
  type StoredVector,
} from './factor-store.ts';

interface MemoryShard {
  facts: Record<string, string>;
  readonly vectors: Map<string, StoredVector>;
  readonly rows: Map<string, Uint8Array>;
  gram: Uint8Array | null;
  outbox: Uint8Array | null;
}

export type MemorySnapshot = ReadonlyMap<string, MemoryShard>;

export class MemoryStore implements FactorStore {
  readonly #shards = new Map<string, MemoryShard>();
  #manifest: Manifest | undefined;

  async agree(manifest: Manifest): Promise<void> {
    this.#manifest ??= manifest;
    checkManifest(this.#manifest, manifest, 'memory');
  }

  async takeOver(id: ShardId, epoch: number): Promise<ShardState> {
    const shard = this.#shard(id);
    const fence = shard.facts.fence;
    if (fence !== undefined && Number(fence) >= epoch) {
      throw new StaleEpoch(`fenced at ${fence}, above claim ${epoch}`);
    }
    shard.facts = { ...shard.facts, fence: String(epoch) };
    return this.inspect(id);
  }

  async commit(id: ShardId, commit: Commit): Promise<CommitVerdict> {
    const shard = this.#shard(id);
    const { fence = '', commit: last } = shard.facts;
    const position = positionOf(shard) ?? 0;
    if (fence !== String(commit.epoch)) return { kind: 'fenced', fence: Number(fence) };
    if (last === commit.id) return { kind: 'written' };
    if (position !== commit.from) return { kind: 'elsewhere', position };
    for (const key of commit.removed) {
      shard.vectors.delete(key);
      shard.rows.delete(key);
    }
    for (const [key, stored] of commit.vectors) shard.vectors.set(key, copyOf(stored));
    for (const [key, bytes] of commit.rowAppends) {
      shard.rows.set(key, Buffer.concat([shard.rows.get(key) ?? new Uint8Array(), bytes]));
    }
    shard.gram = Uint8Array.from(commit.gram);
    shard.outbox = Uint8Array.from(commit.outbox);
    const reached = { commit: commit.id, position: String(commit.next) };
    shard.facts = { ...shard.facts, ...commit.facts, ...reached };
    return { kind: 'written' };
  }

  async inspect(id: ShardId): Promise<ShardState> {
    const shard = this.#shard(id);
    const { facts, gram, outbox } = shard;
    return { position: positionOf(shard), facts, gram, outbox };
  }

  async facts(id: ShardId): Promise<Readonly<Record<string, string>>> {
    return this.#shard(id).facts;
  }

  async *vectors(id: ShardId): AsyncIterable<readonly [string, StoredVector]> {
    for (const [key, stored] of this.#shard(id).vectors) yield [key, copyOf(stored)];
  }

  async rows(id: ShardId, ids: readonly string[]): Promise<(Uint8Array | null)[]> {
    return ids.map((key) => this.#shard(id).rows.get(key) ?? null);
  }

  async entity(id: ShardId, key: string): Promise<StoredEntity> {
    const shard = this.#shard(id);
    return {
      position: positionOf(shard),
      vector: shard.vectors.get(key)?.vector.slice() ?? null,
      row: shard.rows.get(key) ?? null,
    };
  }

  async close(): Promise<void> {}

  /** All there is now, to go back to: what a fail-over to a replica that lags does. */
  snapshot(): MemorySnapshot {
    return structuredClone(this.#shards);
  }

  restore(snapshot: MemorySnapshot): void {
    this.#shards.clear();
    for (const [key, shard] of structuredClone(snapshot)) this.#shards.set(key, shard);
  }

  #shard({ side, shard }: ShardId): MemoryShard {
    const key = `${side}:${shard}`;
    let found = this.#shards.get(key);
    if (found === undefined) {
      found = { facts: {}, vectors: new Map(), rows: new Map(), gram: null, outbox: null };
      this.#shards.set(key, found);
    }
    return found;
  }
}

function positionOf({ facts }: MemoryShard): number | null {
  return facts.position === undefined ? null : Number(facts.position);
}

function copyOf({ vector, trend }: StoredVector): StoredVector {
  return { vector: vector.slice(), trend };
}
