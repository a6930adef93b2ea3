import fc from 'fast-check';
import { Partitioners } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { murmur2, shardOf } from './shard-of.ts';

/** From the tests of Kafka's Java client. */
const known: readonly (readonly [bytes: string | Uint8Array, hash: number])[] = [
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  [Uint8Array.of(97, 98, 99), 479470107],
];

/** kafkajs as a producer with default settings chooses. */
function partitionByKafkajs(key: Buffer, partitions: number): number {
  const choose = Partitioners.DefaultPartitioner();
  const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({
    partitionErrorCode: 0,
    partitionId,
    leader: 0,
    replicas: [0],
    isr: [0],
  }));
  return choose({ topic: 'ratings', partitionMetadata, message: { key, value: null } });
}

describe('the shard of an id', () => {
  it("hashes as Kafka's Java client does", () => {
    for (const [bytes, hash] of known) expect(murmur2(Buffer.from(bytes))).toBe(hash);
  });

  it('is the partition to which a kafkajs producer sends the id, whatever the id', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 80 }),
        fc.integer({ min: 1, max: 1024 }),
        (id, partitions) => {
          expect(shardOf(id, partitions)).toBe(partitionByKafkajs(Buffer.from(id), partitions));
        },
      ),
      { seed: 3, numRuns: 500 },
    );
  });

  it('hashes bytes wherever they lie, and ids of any length', () => {
    const id = 'Ångström ☂ 🎬';
    const padded = Buffer.concat([Buffer.alloc(3), Buffer.from(id), Buffer.alloc(2)]);
    expect(murmur2(padded, 3, padded.length - 2)).toBe(murmur2(Buffer.from(id)));
    const long = '🎬'.repeat(5_000);
    expect(shardOf(long, 64)).toBe(partitionByKafkajs(Buffer.from(long), 64));
  });

  it('uses every shard about equally', () => {
    const counts = new Array(8).fill(0);
    for (let n = 0; n < 8_000; n++) counts[shardOf(`user-${n}`, 8)]++;
    // Ten standard deviations of a fair throw.
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(300);
  });
});
