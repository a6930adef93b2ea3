/**
 * Compresses batches for tests. Freshet's producers do not compress, so Freshet itself only
 * decompresses.
 */
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { writeLz4 } from './lz4.ts';
import { writeSnappy } from './snappy.ts';

export const compressors: Readonly<
  Record<'gzip' | 'snappy' | 'lz4', (input: Buffer) => Promise<Buffer>>
> = {
  gzip: promisify(gzip),
  snappy: async (input) => writeSnappy(input),
  lz4: async (input) => writeLz4(input),
};

/** Makes kafkajs compress with these, by the numbers that Kafka gives them: gzip is 1. */
export function registerCompressors(): void {
  const { CompressionCodecs } = createRequire(import.meta.url)('kafkajs');
  for (const [at, compress] of Object.values(compressors).entries()) {
    const { decompress } = CompressionCodecs[at + 1]();
    const codec = { compress: ({ buffer }: { buffer: Buffer }) => compress(buffer), decompress };
    CompressionCodecs[at + 1] = () => codec;
  }
}
