/** The lines of a file as bytes, as Kafka would carry them, so that the reader decodes them. */

interface FileLine {
  /** From 1. Empty lines count, and are left out. */
  readonly number: number;
  readonly bytes: Buffer;
}

const LINE_BREAK = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Longer lines are cut. Records of more than 64 KB are refused, so a cut line is refused too. */
const LINE_BYTES_LIMIT = 1 << 20;

export async function* fileLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<FileLine, void> {
  let number = 0;
  let parts: Buffer[] = [];
  let length = 0;
  const keep = (part: Buffer): void => {
    const fitting = part.subarray(0, LINE_BYTES_LIMIT - length);
    if (fitting.length > 0) parts.push(fitting);
    length += fitting.length;
  };
  const finish = (): FileLine | undefined => {
    const line = Buffer.concat(parts);
    [parts, length] = [[], 0];
    number++;
    const bytes = line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
    return bytes.length === 0 ? undefined : { number, bytes };
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, from)) {
      keep(chunk.subarray(from, end));
      const line = finish();
      if (line !== undefined) yield line;
      from = end + 1;
    }
    keep(chunk.subarray(from));
  }
  const last = finish();
  if (last !== undefined) yield last;
}
