/**
 * How does a file, a .gz or standard input become lines? Compression is told by the first two
 * bytes, not by the name, so that it also works on a pipe; lines come in batches, because ten
 * million separate awaits would cost more than the parsing.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { UnreadableRatings } from './fields.ts';

/** How far a reader has come, in bytes of the file as it lies on disk. */
export interface ReadProgress {
  readonly bytes: number;
  /** Unknown for standard input. */
  readonly totalBytes: number | undefined;
  readonly lines: number;
}

/** A line longer than this is not a rating: better a clear error than all of memory. */
const longestLine = 1 << 20;

interface LineBatch {
  /** Number of the first line, from 1. */
  readonly first: number;
  readonly lines: readonly string[];
}

export async function* textLines(
  path: string,
  onProgress?: (progress: ReadProgress) => void,
): AsyncGenerator<LineBatch, void> {
  const totalBytes = path === '-' ? undefined : (await stat(path)).size;
  let bytes = 0;
  const source: Readable =
    path === '-' ? process.stdin : createReadStream(path, { highWaterMark: 1 << 18 });
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
  };
  const decoder = new TextDecoder('utf-8');
  let rest = '';
  let next = 1;
  for await (const chunk of inflated(source, count)) {
    const text = rest + decoder.decode(chunk, { stream: true });
    const lines = text.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestLine)
      throw new UnreadableRatings(`line ${next + lines.length} is over 1 MB long`);
    if (lines.length === 0) continue;
    yield { first: next, lines };
    next += lines.length;
    onProgress?.({ bytes, totalBytes, lines: next - 1 });
  }
  rest += decoder.decode();
  if (rest !== '') yield { first: next++, lines: [rest] };
  onProgress?.({ bytes, totalBytes, lines: next - 1 });
}

/** Passes plain bytes through and unpacks gzip, whichever the first bytes announce. */
async function* inflated(
  source: Readable,
  count: (chunk: Buffer) => void,
): AsyncGenerator<Buffer, void> {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  try {
    let chunk = await chunks.next();
    if (!chunk.done && chunk.value[0] === 0x1f && chunk.value[1] === 0x8b) {
      yield* unpacked(chunk.value, chunks, count);
      return;
    }
    for (; !chunk.done; chunk = await chunks.next()) {
      count(chunk.value);
      yield chunk.value;
    }
  } finally {
    source.destroy();
  }
}

async function* unpacked(
  first: Buffer,
  chunks: AsyncIterator<Buffer, undefined>,
  count: (chunk: Buffer) => void,
): AsyncGenerator<Buffer, void> {
  const packed = async function* () {
    yield first;
    for (let chunk = await chunks.next(); !chunk.done; chunk = await chunks.next()) {
      count(chunk.value);
      yield chunk.value;
    }
  };
  count(first);
  const gunzip = createGunzip({ chunkSize: 1 << 18 });
  const feeding = pipeline(packed, gunzip);
  // The reader below sees the same failure; this only keeps it from being reported twice.
  feeding.catch(() => undefined);
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
    await feeding;
  } catch (error) {
    throw new UnreadableRatings('its gzip is damaged or cut short', { cause: error });
  }
}
