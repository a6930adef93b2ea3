/**
 * Users or items of one shard that are in memory, bounded in bytes: whoever was not asked for the longest goes
 * first. Nobody goes who has changed and is not yet committed.
 */
export interface Cached {
  readonly id: string;
  /** Memory it takes, about. */
  readonly bytes: number;
  /** It differs from what the store holds. */
  readonly isChanged: boolean;
}

export class EntityCache<E extends Cached> {
  readonly #entities = new Map<string, E>();
  /** As it was when each was last weighed. */
  readonly #weights = new Map<string, number>();
  #bytes = 0;
  /** As it was last trimmed to. */
  #limitBytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  has(id: string): boolean {
    return this.#entities.has(id);
  }

  get(id: string): E | undefined {
    const entity = this.#entities.get(id);
    if (entity === undefined) return undefined;
    // A Map keeps the order in which its entries came: the last to be asked for is the last to go. While there
    // is room nobody goes, and the order does not matter.
    if (2 * this.#bytes > this.#limitBytes) {
      this.#entities.delete(id);
      this.#entities.set(id, entity);
    }
    return entity;
  }

  set(entity: E): void {
    this.#entities.set(entity.id, entity);
    this.weigh(entity);
  }

  delete(id: string): void {
    this.#entities.delete(id);
    this.#bytes -= this.#weights.get(id) ?? 0;
    this.#weights.delete(id);
  }

  /** It has grown or shrunk. */
  weigh({ id, bytes }: E): void {
    this.#bytes += bytes - (this.#weights.get(id) ?? 0);
    this.#weights.set(id, bytes);
  }

  trim(limitBytes: number): void {
    this.#limitBytes = limitBytes;
    if (this.#bytes <= limitBytes) return;
    for (const entity of this.#entities.values()) {
      if (entity.isChanged) continue;
      this.delete(entity.id);
      if (this.#bytes <= limitBytes) return;
    }
  }
}
