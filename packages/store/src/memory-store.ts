/** The factor store in memory: the same contract as Redis, for tests that need no server. */
import {
  type Agreed,
  type Agreement,
  checkManifest,
  foreignShard,
  type Manifest,
  type Member,
  SIGN_OF_LIFE_MS,
  sealOf,
  type Tuning,
} from './agreement.ts';
import {
  type Commit,
  type CommitVerdict,
  type FactorStore,
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
  #model: { manifest: Manifest; tuning: Tuning; born: number } | undefined;
  /** When the sign of life of each member runs out. */
  readonly #members = new Map<string, number>();
  #seal: string | undefined;

  constructor(readonly now: () => number = () => Date.now()) {}

  async agree({ manifest, tuning }: Agreement, { id, born }: Member): Promise<Agreed> {
    if (this.#model === undefined && born === undefined) return { kind: 'absent' };
    this.#model ??= { manifest, tuning, born: born ?? 0 };
    checkManifest(this.#model.manifest, manifest, 'memory');
    const others = [...this.#members].filter(([each, until]) => each !== id && until >= this.now());
    const former = this.#model.tuning;
    const isTuned = JSON.stringify(former) !== JSON.stringify(tuning);
    if (isTuned && others.length > 0) {
      return { kind: 'tuned', tuning: former, others: others.length };
    }
    this.#model.tuning = tuning;
    this.#members.set(id, this.now() + SIGN_OF_LIFE_MS);
    this.#seal = sealOf(manifest);
    return { kind: 'agreed', born: this.#model.born, former: isTuned ? former : null };
  }

  async leave(memberId: string): Promise<void> {
    this.#members.delete(memberId);
  }

  async birth(): Promise<number | null> {
    return this.#model?.born ?? null;
  }

  async takeOver(id: ShardId, epoch: number): Promise<ShardState> {
    const shard = this.#shard(id);
    const { fence, seal } = shard.facts;
    if (this.#isForeign(seal)) throw foreignShard(id.side, id.shard, 'memory');
    if (fence !== undefined && Number(fence) >= epoch) {
      throw new StaleEpoch(`fenced at ${fence}, above claim ${epoch}`);
    }
    const sealed = this.#seal === undefined ? {} : { seal: this.#seal };
    shard.facts = { ...shard.facts, fence: String(epoch), ...sealed };
    return this.inspect(id);
  }

  async commit(id: ShardId, commit: Commit): Promise<CommitVerdict> {
    const shard = this.#shard(id);
    const { fence = '', commit: last } = shard.facts;
    const position = positionOf(shard) ?? 0;
    if (fence !== String(commit.epoch)) return { kind: 'fenced', fence: Number(fence) };
    if (this.#isForeign(shard.facts.seal)) throw foreignShard(id.side, id.shard, 'memory');
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

  /** Nothing is left, as after FLUSHALL. */
  wipe(): void {
    this.#shards.clear();
    this.#members.clear();
    this.#model = undefined;
  }

  /** All there is now, to go back to: what a fail-over to a replica that lags does. */
  snapshot(): MemorySnapshot {
    return structuredClone(this.#shards);
  }

  restore(snapshot: MemorySnapshot): void {
    this.#shards.clear();
    for (const [key, shard] of structuredClone(snapshot)) this.#shards.set(key, shard);
  }

  #isForeign(seal: string | undefined): boolean {
    return seal !== undefined && this.#seal !== undefined && seal !== this.#seal;
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
