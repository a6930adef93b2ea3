/**
 * Every codec that a producer may have compressed a batch with. kafkajs brings gzip alone, and a
 * consumer that meets another one stops for good. Each codec here bounds what comes out of one batch.
 */
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip, unzip } from 'node:zlib';
import { BadBytes, corrupt, tooLarge } from './codecs-bytes.ts';
import { readLz4, writeLz4 } from './codecs-lz4.ts';
import { readSnappy, writeSnappy } from './codecs-snappy.ts';
import { readZstd, writeZstd } from './codecs-zstd.ts';

// Node does not find this name among the exports of a CommonJS module by itself.
const { CompressionCodecs, CompressionTypes } = createRequire(import.meta.url)(
  'kafkajs',
) as typeof import('kafkajs');

/**
 * 128 times the largest batch that a broker accepts by default (message.max.bytes, 1 MB). Four
 * megabytes of zeros in gzip would be 4 GB.
 */
export const MAX_BATCH_BYTES = 128 << 20;

export interface Codec {
  readonly name: string;
  compress(input: Buffer): Promise<Buffer>;
  /** Throws an error that a person understands if the bytes are corrupt or too many come out. */
  decompress(input: Buffer, limit?: number): Promise<Buffer>;
}

type Read = (input: Buffer, limit: number) => Buffer | Promise<Buffer>;
type Write = (input: Buffer) => Buffer | Promise<Buffer>;

/** By the number that the attributes of a batch carry; 5 to 7 mean nothing yet. */
const codecs: ReadonlyMap<number, Codec> = new Map([
  [CompressionTypes.GZIP, codec('gzip', readGzip, promisify(gzip))],
  [CompressionTypes.Snappy, codec('snappy', readSnappy, writeSnappy)],
  [CompressionTypes.LZ4, codec('lz4', readLz4, writeLz4)],
  [CompressionTypes.ZSTD, codec('zstd', readZstd, writeZstd)],
]);

const CODEC_MASK = 7;

/** The codec of a batch by its attributes; null if it is not compressed. */
export function codecOf(attributes: number): Codec | null {
  const id = attributes & CODEC_MASK;
  if (id === CompressionTypes.None) return null;
  const found = codecs.get(id);
  if (found === undefined) throw new BadBytes(`codec ${id} is unknown`);
  return found;
}

/** Makes kafkajs use the codecs, for what it reads by itself and for producers that compress. */
export function registerCodecs(): void {
  for (const [id, { compress, decompress }] of codecs) {
    const registered = {
      compress: ({ buffer }: { buffer: Buffer }) => compress(buffer),
      decompress: (buffer: Buffer) => decompress(buffer),
    };
    Object.assign(CompressionCodecs, { [id]: () => registered });
  }
}

function codec(name: string, read: Read, write: Write): Codec {
  const named = async (work: () => Buffer | Promise<Buffer>, limit: number): Promise<Buffer> => {
    try {
      return await work();
    } catch (error) {
      throw new BadBytes(`${name}: ${reasonOf(error, limit).message}`, { cause: error });
    }
  };
  return {
    name,
    compress: (input) => named(() => write(input), MAX_BATCH_BYTES),
    decompress: (input, limit = MAX_BATCH_BYTES) => named(() => read(input, limit), limit),
  };
}

/** zlib says with a code that there was too much; whatever else it says is that it cannot read on. */
function reasonOf(error: unknown, limit: number): BadBytes {
  if (error instanceof BadBytes) return error;
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(limit) : corrupt();
}

function readGzip(input: Buffer, limit: number): Promise<Buffer> {
  return promisify<Buffer, { maxOutputLength: number }, Buffer>(unzip)(input, {
    maxOutputLength: limit,
  });
}
