/** The factor store in memory: passes the same contract as Redis, for tests without a server. */
import { randomUUID } from 'node:crypto';
import {
  type Agreed,
  type Agreement,
  type Birth,
  checkManifest,
  foreignShard,
  type Member,
  ModelRestoring,
  type SavedModel,
  SIGN_OF_LIFE_MS,
  sealOf,
} from './agreement.ts';
import {
  type AcceptedLoss,
  type Commit,
  type CommitResult,
  CopyFailed,
  type FactorStore,
  type Occupation,
  StaleEpoch,
  StoreAway,
} from './factor-store.ts';
import { decodeFacts, encodeFacts, NO_FACTS } from './shard-facts.ts';
import type {
  PlacedEntity,
  SavedShard,
  ShardCopy,
  ShardHead,
  ShardId,
  ShardState,
  StoredEntity,
  StoredVector,
} from './stored-shard.ts';

interface MemoryShard {
  fence: number | null;
  position: number | null;
  commit: string | null;
  seal: string | undefined;
  /** As text, as in Redis: so it does not change with the object that was given. */
  facts: string;
  readonly vectors: Map<string, StoredVector>;
  readonly bodies: Map<string, Uint8Array>;
  sums: Uint8Array | null;
  outbox: Uint8Array | null;
  isCopied: boolean;
}

export type MemorySnapshot = ReadonlyMap<string, MemoryShard>;

export class MemoryStore implements FactorStore {
  readonly #shards = new Map<string, MemoryShard>();
  #model: Omit<SavedModel, 'losses'> | undefined;
  /** By member: until when it counts as running. */
  readonly #members = new Map<string, number>();
  readonly #losses = new Map<string, AcceptedLoss>();
  #seal: string | undefined;
  #isRestoring = false;

  constructor(readonly now: () => number = () => Date.now()) {}

  async agree({ manifest, tuning }: Agreement, { id, born }: Member): Promise<Agreed> {
    if (this.#isRestoring) throw new ModelRestoring('memory');
    if (this.#model === undefined) {
      if (born === undefined) return { kind: 'absent' };
      this.#model = { manifest, tuning, born, rebuilt: 0 };
    }
    checkManifest(this.#model.manifest, manifest, 'memory');
    const others = [...this.#members].filter(([each, until]) => each !== id && until >= this.now());
    const former = this.#model.tuning;
    const isTuned = JSON.stringify(former) !== JSON.stringify(tuning);
    if (isTuned && others.length > 0) {
      return { kind: 'tuned', tuning: former, others: others.length };
    }
    this.#model = { ...this.#model, tuning };
    this.#members.set(id, this.now() + SIGN_OF_LIFE_MS);
    this.#seal = sealOf(manifest);
    const { born: begun, rebuilt } = this.#model;
    return { kind: 'agreed', born: begun, rebuilt, former: isTuned ? former : null };
  }

  async leave(memberId: string): Promise<void> {
    this.#members.delete(memberId);
  }

  async birth(): Promise<Birth | null> {
    return this.#model ? { born: this.#model.born, rebuilt: this.#model.rebuilt } : null;
  }

  async takeOver(id: ShardId, epoch: number): Promise<ShardState> {
    const shard = this.#shard(id);
    const { fence, seal } = shard;
    if (this.#isRestoring) throw new StoreAway('the shard is being restored');
    if (this.#isForeign(seal)) throw foreignShard(id.side, id.shard, 'memory');
    if (fence !== null && fence >= epoch) {
      throw new StaleEpoch(`fence ${fence} is not below epoch ${epoch}`);
    }
    const before = stateOf(shard);
    shard.fence = epoch;
    shard.seal = this.#seal ?? seal;
    return before;
  }

  async commit(id: ShardId, commit: Commit): Promise<CommitResult> {
    const shard = this.#shard(id);
    const position = shard.position ?? 0;
    if (shard.fence !== commit.epoch) return { kind: 'fenced', fence: shard.fence ?? 0 };
    if (this.#isForeign(shard.seal)) throw foreignShard(id.side, id.shard, 'memory');
    if (shard.commit === commit.id) return { kind: 'written' };
    if (position !== commit.from) return { kind: 'elsewhere', position };
    for (const key of commit.removed) {
      shard.vectors.delete(key);
      shard.bodies.delete(key);
    }
    for (const [key, stored] of commit.vectors) shard.vectors.set(key, copyOf(stored));
    for (const [key, { bytes, isWhole }] of commit.bodies) {
      const before = isWhole ? undefined : shard.bodies.get(key);
      shard.bodies.set(key, Buffer.concat([before ?? new Uint8Array(), bytes]));
    }
    shard.sums = Uint8Array.from(commit.sums);
    shard.outbox = Uint8Array.from(commit.outbox);
    shard.facts = encodeFacts(commit.facts);
    shard.commit = commit.id;
    shard.position = commit.next;
    return { kind: 'written' };
  }

  async inspect(id: ShardId): Promise<ShardState> {
    return stateOf(this.#shard(id));
  }

  async head(id: ShardId): Promise<ShardHead> {
    return headOf(this.#shard(id));
  }

  async *vectors(id: ShardId): AsyncIterable<readonly [string, StoredVector]> {
    for (const [key, stored] of this.#shard(id).vectors) yield [key, copyOf(stored)];
  }

  async load(id: ShardId, ids: readonly string[]): Promise<StoredEntity[]> {
    const shard = this.#shard(id);
    return ids.map((key) => entityOf(shard, key));
  }

  async entity(id: ShardId, key: string): Promise<PlacedEntity> {
    const shard = this.#shard(id);
    return { ...headOf(shard), ...entityOf(shard, key) };
  }

  async acceptLoss(topic: string, partition: number, loss: AcceptedLoss): Promise<void> {
    this.#losses.set(`${topic}/${partition}`, loss);
  }

  async acceptedLoss(topic: string, partition: number): Promise<AcceptedLoss | null> {
    return this.#losses.get(`${topic}/${partition}`) ?? null;
  }

  async rebuild({ manifest, tuning }: Agreement, born: number): Promise<void> {
    this.wipe();
    this.#model = { manifest, tuning, born, rebuilt: born };
  }

  async savedModel(): Promise<SavedModel | null> {
    return this.#model ? { ...this.#model, losses: Object.fromEntries(this.#losses) } : null;
  }

  async occupation(): Promise<Occupation> {
    const members = [...this.#members.values()].filter((until) => until > this.now());
    return { members: members.length, isRestoring: this.#isRestoring };
  }

  async copyShard(id: ShardId): Promise<ShardCopy> {
    const shard = this.#shard(id);
    if (shard.isCopied) throw new CopyFailed('the shard is being copied already');
    shard.isCopied = true;
    const copy = structuredClone(shard);
    return {
      state: stateOf(copy),
      entities: async function* () {
        for (const key of copy.vectors.keys()) yield [key, entityOf(copy, key)] as const;
      },
      close: async () => {
        shard.isCopied = false;
      },
    };
  }

  async restoreModel(model: SavedModel, shards: AsyncIterable<SavedShard>): Promise<void> {
    if ((await this.occupation()).members > 0) throw new CopyFailed('services are running');
    this.wipe();
    this.#isRestoring = true;
    const id = randomUUID();
    const renew = () => {
      if (!this.#members.has(id)) throw new CopyFailed('another restore has begun');
      this.#members.set(id, this.now() + SIGN_OF_LIFE_MS);
    };
    this.#members.set(id, this.now() + SIGN_OF_LIFE_MS);
    try {
      await this.#fill(model, shards, renew);
    } finally {
      this.#members.delete(id);
    }
  }

  async #fill(
    { losses, ...model }: SavedModel,
    shards: AsyncIterable<SavedShard>,
    renew: () => void,
  ): Promise<void> {
    for await (const { id, state, entities } of shards) {
      const vectors = new Map<string, StoredVector>();
      const bodies = new Map<string, Uint8Array>();
      for await (const [key, { stored, body }] of entities) {
        if (stored) vectors.set(key, copyOf(stored));
        if (body) bodies.set(key, Uint8Array.from(body));
      }
      renew();
      const { position, commit, facts, sums, outbox } = state;
      const seal = sealOf(model.manifest);
      const head = { position, commit, seal, facts: encodeFacts(facts), sums, outbox };
      Object.assign(this.#shard(id), { ...head, vectors, bodies });
    }
    renew();
    for (const [place, loss] of Object.entries(losses)) this.#losses.set(place, loss);
    this.#model = model;
    this.#isRestoring = false;
  }

  async close(): Promise<void> {}

  /** Deletes everything, like FLUSHALL. */
  wipe(): void {
    this.#shards.clear();
    this.#members.clear();
    this.#losses.clear();
    this.#model = undefined;
    this.#isRestoring = false;
  }

  /** A copy of all shards, to restore later: like a fail-over to a Redis replica that is behind. */
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
      found = {
        fence: null,
        position: null,
        commit: null,
        seal: undefined,
        facts: encodeFacts(NO_FACTS),
        vectors: new Map(),
        bodies: new Map(),
        sums: null,
        outbox: null,
        isCopied: false,
      };
      this.#shards.set(key, found);
    }
    return found;
  }
}

function headOf({ fence, position, commit, facts }: MemoryShard): ShardHead {
  return { fence, position, commit, facts: decodeFacts(facts) };
}

function stateOf(shard: MemoryShard): ShardState {
  const { sums, outbox } = shard;
  return { ...headOf(shard), sums: copied(sums), outbox: copied(outbox) };
}

function entityOf({ vectors, bodies }: MemoryShard, key: string): StoredEntity {
  const [stored, body] = [vectors.get(key), bodies.get(key)];
  return { stored: stored ? copyOf(stored) : null, body: copied(body ?? null) };
}

function copyOf({ vector, figures, list }: StoredVector): StoredVector {
  return { vector: vector.slice(), figures: figures.slice(), list: list && Uint8Array.from(list) };
}

/** Not by `slice`, which is only a view of a Buffer. */
function copied(bytes: Uint8Array | null): Uint8Array | null {
  return bytes && Uint8Array.from(bytes);
}
