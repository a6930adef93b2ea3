/**
 * The sums that one shard publishes for all: its partial gram and, for user shards, the lessons for
 * θ. Both are totals over everything that the shard has ever applied, so receiving them twice, or
 * again after a restart, does no harm.
 */

import { Gram, gramByteLength } from './gram.ts';
import { Lessons } from './lessons.ts';
import type { Side } from './settings.ts';

export class ShardSums {
  private constructor(
    readonly gram: Gram,
    /** Undefined for item shards. */
    readonly lessons: Lessons | undefined,
  ) {}

  static zero(side: Side, k: number): ShardSums {
    return new ShardSums(Gram.zero(k), side === 'user' ? new Lessons() : undefined);
  }

  static fromBytes(side: Side, bytes: Uint8Array, k: number): ShardSums {
    const end = gramByteLength(k);
    const gram = Gram.fromBytes(bytes.subarray(0, end), k);
    return new ShardSums(
      gram,
      side === 'user' ? Lessons.fromBytes(bytes.subarray(end)) : undefined,
    );
  }

  /** The gram, then the lessons. */
  toBytes(): Uint8Array {
    const gram = this.gram.toBytes();
    if (this.lessons === undefined) return gram;
    const lessons = this.lessons.toBytes();
    const bytes = new Uint8Array(gram.length + lessons.length);
    bytes.set(gram);
    bytes.set(lessons, gram.length);
    return bytes;
  }
}
