import { describe, expect, it } from 'vitest';
import { gramByteLength } from './gram.ts';
import { LESSONS_BYTES } from './lessons.ts';
import { ShardSums } from './shard-sums.ts';

const K = 3;

describe('what one shard adds', () => {
  it.each(['user', 'item'] as const)('survives its bytes, on the %s side', (side) => {
    const sums = ShardSums.zero(side, K);
    sums.gram.move(undefined, Float32Array.of(1, 2, 3));
    if (sums.lessons) {
      sums.lessons.events = 7;
      sums.lessons.gradient.fill(0.5);
      sums.lessons.curvature.fill(0.25);
    }
    const bytes = sums.toBytes();
    expect(bytes.length).toBe(gramByteLength(K) + (side === 'user' ? LESSONS_BYTES : 0));
    const inside = new Uint8Array(bytes.length + 5);
    inside.set(bytes, 5);
    const restored = ShardSums.fromBytes(side, inside.subarray(5), K);
    expect(restored.toBytes()).toEqual(bytes);
    expect(restored.lessons?.events).toBe(side === 'user' ? 7 : undefined);
  });

  it('refuses the bytes of the other side', () => {
    expect(() => ShardSums.fromBytes('user', ShardSums.zero('item', K).toBytes(), K)).toThrow(
      RangeError,
    );
  });
});
