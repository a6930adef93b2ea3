/**
 * What one shard adds to what all know: its partial gram and, of users, what their ratings have taught about θ.
 * Both are sums over everything it has ever applied, so a part that comes twice, or again after a restart, does no
 * harm.
 */

import { Gram, gramByteLength } from './gram.ts';
import { Lessons } from './lessons.ts';
import type { Side } from './settings.ts';

export class ShardSums {
  private constructor(
    readonly gram: Gram,
    /** None on the item side. */
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
