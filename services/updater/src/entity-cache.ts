/**
 * The users or items of one shard that are in memory. The cache is bounded in bytes and evicts the
 * least recently used first. It never evicts an entity that has changes which are not committed.
 */
import assert from 'node:assert';

export interface Cached {
  readonly id: string;
  /** Memory that the entity takes, about. */
  readonly bytes: number;
  /** The entity differs from what the store holds. */
  readonly isChanged: boolean;
}

export class EntityCache<E extends Cached> {
  /** `bytes`: the size of the entity when it was last weighed. */
  readonly #held = new Map<string, { readonly entity: E; bytes: number }>();
  #bytes = 0;
  /** The limit of the last trim. */
  #limitBytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  has(id: string): boolean {
    return this.#held.has(id);
  }

  get(id: string): E | undefined {
    const held = this.#held.get(id);
    if (held === undefined) return undefined;
    // A Map keeps the order of insertion, so the entity moves to the end, which is evicted last.
    // While half of the cache is free nothing is evicted soon, and the order is left as it is.
    if (2 * this.#bytes > this.#limitBytes) {
      this.#held.delete(id);
      this.#held.set(id, held);
    }
    return held.entity;
  }

  /** Replaces an entity of the same id. */
  set(entity: E): void {
    this.delete(entity.id);
    const { id, bytes } = entity;
    this.#held.set(id, { entity, bytes });
    this.#bytes += bytes;
  }

  delete(id: string): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    this.#bytes -= held.bytes;
    this.#held.delete(id);
  }

  /** Must be called when an entity of the cache has grown or shrunk. */
  weigh({ id, bytes }: E): void {
    const held = this.#held.get(id);
    assert(held !== undefined, 'an entity that is weighed is in the cache');
    this.#bytes += bytes - held.bytes;
    held.bytes = bytes;
  }

  trim(limitBytes: number): void {
    this.#limitBytes = limitBytes;
    if (this.#bytes <= limitBytes) return;
    for (const { entity } of this.#held.values()) {
      if (entity.isChanged) continue;
      this.delete(entity.id);
      if (this.#bytes <= limitBytes) return;
    }
  }
}
