/**
 * Every codec that a producer may have compressed a batch with. kafkajs has gzip only, and its
 * consumer stops for good at a batch in another codec. Each codec here limits how many bytes one
 * batch decompresses to.
 */
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip, unzip } from 'node:zlib';
import { BadBytes, corrupt, tooLarge } from './codecs-bytes.ts';
import { readLz4, writeLz4 } from './codecs-lz4.ts';
import { readSnappy, writeSnappy } from './codecs-snappy.ts';
import { readZstd, writeZstd } from './codecs-zstd.ts';

// Node does not recognise these names as exports of a CommonJS module.
const { CompressionCodecs, CompressionTypes } = createRequire(import.meta.url)(
  'kafkajs',
) as typeof import('kafkajs');

/**
 * 128 times the largest batch that a broker accepts by default (message.max.bytes, 1 MB). Without a
 * limit, 4 MB of gzip could become 4 GB of zeros.
 */
export const MAX_BATCH_BYTES = 128 << 20;

export interface Codec {
  readonly name: string;
  compress(input: Buffer): Promise<Buffer>;
  /** Throws BadBytes if the bytes are corrupt or decompress to more than `limit`. */
  decompress(input: Buffer, limit?: number): Promise<Buffer>;
}

type Read = (input: Buffer, limit: number) => Buffer | Promise<Buffer>;
type Write = (input: Buffer) => Buffer | Promise<Buffer>;

/** By the number in the attributes of a batch; 5 to 7 are not assigned. */
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

/** Registers the codecs with kafkajs, for its own decoders and for producers that compress. */
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

/** zlib has an error code for too much output; its other errors mean corrupt bytes. */
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
