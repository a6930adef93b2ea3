/**
 * The sum of all partial grams. Parts are absolute and versioned: the newest of each shard counts,
 * whatever the order and however often they come, so the sum cannot drift.
 */
import { type GramPart, type GramsEvent, isNewer, type PartVersion } from '@freshet/events';
import { Gram, type Grams } from '@freshet/model';

interface HeldPart extends PartVersion {
  readonly gram: Gram;
  readonly ratings: number;
}

export class GramSum {
  readonly #parts = new Map<string, HeldPart>();

  constructor(readonly factorCount: number) {}

  /** True if the part is newer than the one held of its shard. */
  receive(part: GramPart): boolean {
    const { side, shard, epoch, sequence, ratings } = part;
    const key = `${side}:${shard}`;
    if (!isNewer(part, this.#parts.get(key))) return false;
    const gram = Gram.fromBytes(part.gram, this.factorCount);
    this.#parts.set(key, { side, shard, epoch, sequence, ratings, gram });
    return true;
  }

  total(): Grams {
    const k = this.factorCount;
    const total: Grams = { user: Gram.zero(k), item: Gram.zero(k), ratings: 0 };
    for (const { side, gram, ratings } of this.#parts.values()) {
      total[side].add(gram);
      // |R| is counted where ratings are judged: on the user side.
      if (side === 'user') total.ratings += ratings;
    }
    return total;
  }

  toEvent(): GramsEvent {
    const { user, item, ratings } = this.total();
    const parts = [...this.#parts.values()].map(({ side, shard, epoch, sequence }) => {
      return { side, shard, epoch, sequence };
    });
    return {
      factorCount: this.factorCount,
      user: user.toBytes(),
      item: item.toBytes(),
      ratings,
      parts,
    };
  }
}
