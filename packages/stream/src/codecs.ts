/**
 * Every codec that a producer may have compressed a batch with. kafkajs has gzip only, and its
 * consumer stops for good at a batch in another codec. Each codec here has a limit of output.
 */
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { unzip } from 'node:zlib';
import { BadBytes, corrupt, tooLarge } from './codecs-bytes.ts';
import { readLz4 } from './codecs-lz4.ts';
import { readSnappy } from './codecs-snappy.ts';
import { readZstd } from './codecs-zstd.ts';

// Node does not recognise these names as exports of a CommonJS module.
const { CompressionCodecs, CompressionTypes } = createRequire(import.meta.url)(
  'kafkajs',
) as typeof import('kafkajs');

/** 128 times the largest batch by default (1 MB): 4 MB of gzip could be 4 GB of zeros. */
export const MAX_BATCH_BYTES = 128 << 20;

interface Codec {
  readonly name: string;
  /** Throws BadBytes if the bytes are corrupt or decompress to more than `limit`. */
  decompress(input: Buffer, limit?: number): Promise<Buffer>;
}

/** By the number in the attributes of a batch; 5 to 7 are not assigned. */
const codecs: ReadonlyMap<number, Codec> = new Map([
  [CompressionTypes.GZIP, codec('gzip', readGzip)],
  [CompressionTypes.Snappy, codec('snappy', readSnappy)],
  [CompressionTypes.LZ4, codec('lz4', readLz4)],
  [CompressionTypes.ZSTD, codec('zstd', readZstd)],
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

/** Registers the codecs with kafkajs, for its own decoders. Freshet's producers do not compress. */
export function registerCodecs(): void {
  for (const [id, { decompress }] of codecs) {
    const registered = { decompress: (buffer: Buffer) => decompress(buffer) };
    Object.assign(CompressionCodecs, { [id]: () => registered });
  }
}

function codec(
  name: string,
  read: (input: Buffer, limit: number) => Buffer | Promise<Buffer>,
): Codec {
  return {
    name,
    decompress: async (input, limit = MAX_BATCH_BYTES) => {
      try {
        return await read(input, limit);
      } catch (error) {
        throw new BadBytes(`${name}: ${reasonOf(error, limit).message}`, { cause: error });
      }
    },
  };
}

/** zlib has an error code for too much output; its other errors mean corrupt bytes. */
function reasonOf(error: unknown, limit: number): BadBytes {
  if (error instanceof BadBytes) return error;
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(limit) : corrupt();
}

function readGzip(input: Buffer, limit: number): Promise<Buffer> {
  return promisify(unzip)(input, { maxOutputLength: limit });
}
