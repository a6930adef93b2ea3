/**
 * The lines of a file or of standard input, plain or gzip. Compression is recognized by the first
 * two bytes, not by the name, so that it works on a pipe. Lines come in batches, because an await
 * for each of ten million lines would cost more than parsing them.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { UnreadableRatings } from './fields.ts';

/** 1 MB: a longer line is not a rating, and reading on could use up the memory. */
const longestLine = 1 << 20;

/** How bzip2 and zstd begin. Most other files that are no text begin with control characters. */
const PACKED = ['BZh91AY&SY', '(\uFFFD/\uFFFD'];
/** \u0001 separates the columns of Hive. */
const TEXT_CONTROLS = '\t\n\v\f\r\u0001';

function beginsLikeText(text: string): boolean {
  const isControl = (char: string) => char < ' ' && !TEXT_CONTROLS.includes(char);
  return !PACKED.some((start) => text.startsWith(start)) && ![...text.slice(0, 16)].some(isControl);
}

/**
 * Batches of lines, each with the number of its first line, from 1. `onShare`: with the share of
 * the file that is read, which is unknown for standard input.
 */
export async function* textLines(path: string, onShare: (share: number | undefined) => void) {
  // In full, because npm start looks in the folder of the checkout, wherever it was called.
  const file = path === '-' ? undefined : await stat(resolve(path));
  if (file?.isDirectory()) throw new UnreadableRatings('it is a folder: name a file in it');
  // A pipe has no size.
  const size = file?.isFile() ? file.size : undefined;
  let bytes = 0;
  const source: Readable =
    path === '-' ? process.stdin : createReadStream(path, { highWaterMark: 1 << 18 });
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
  };
  const tell = () => onShare(size === undefined ? undefined : bytes / Math.max(1, size));
  const decoder = new TextDecoder('utf-8');
  let rest = '';
  let next = 1;
  let end: string | undefined;
  for await (const chunk of inflated(source, count)) {
    const text = rest + decoder.decode(chunk, { stream: true });
    if (text.includes('\0') || (next === 1 && !beginsLikeText(text))) {
      throw new UnreadableRatings(
        'it is not text in UTF-8 (packed other than by gzip, a spreadsheet, UTF-16?): unpack it, or save it as CSV in UTF-8',
      );
    }
    // Old spreadsheets end lines with a carriage return alone.
    end ??= text.includes('\n') || !/\r./.test(text) ? '\n' : '\r';
    const lines = text.split(end);
    rest = lines.pop() as string; // split returns at least one part
    if (rest.length > longestLine)
      throw new UnreadableRatings(`line ${next + lines.length} is over 1 MB long`);
    if (lines.length === 0) continue;
    yield { first: next, lines };
    next += lines.length;
    tell();
  }
  rest += decoder.decode();
  if (rest !== '') yield { first: next, lines: [rest] };
  tell();
}

/** Returns plain bytes as they are, and unpacks gzip. */
async function* inflated(
  source: Readable,
  count: (chunk: Buffer) => void,
): AsyncGenerator<Buffer, void> {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  try {
    const first = await chunks.next();
    const all = async function* () {
      for (let chunk = first; !chunk.done; chunk = await chunks.next()) {
        count(chunk.value);
        yield chunk.value;
      }
    };
    if (first.value?.[0] === 0x1f && first.value[1] === 0x8b) yield* unpacked(all);
    else yield* all();
  } finally {
    source.destroy();
  }
}

async function* unpacked(packed: () => AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const gunzip = createGunzip({ chunkSize: 1 << 18 });
  const feeding = pipeline(packed, gunzip);
  // The loop below sees the same failure. Without this it would also be an unhandled rejection.
  feeding.catch(() => undefined);
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
    await feeding;
  } catch (error) {
    throw new UnreadableRatings('the gzip data are damaged or end too early', { cause: error });
  }
}
