import { describe, expect, it } from 'vitest';
import { fileLines } from './file-lines.ts';

async function linesOf(...chunks: (string | Buffer)[]): Promise<[number, string][]> {
  async function* stream() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const lines: [number, string][] = [];
  for await (const { number, bytes } of fileLines(stream())) lines.push([number, String(bytes)]);
  return lines;
}

describe('the lines of a file', () => {
  it('are numbered from 1, however the bytes come, with or without a last line break', async () => {
    const expected = [
      [1, 'one'],
      [2, 'two'],
    ];
    expect(await linesOf('one\ntwo\n')).toEqual(expected);
    expect(await linesOf('o', 'ne\r', '\nt', 'wo')).toEqual(expected);
  });

  it('may be empty: those are counted and left out', async () => {
    expect(await linesOf('\n\r\none\n\n')).toEqual([[3, 'one']]);
    expect(await linesOf()).toEqual([]);
  });

  it('are cut where one is as long as a file', async () => {
    const lines = await linesOf(...Array.from({ length: 40 }, () => 'x'.repeat(100_000)), '\nend');
    expect(lines.map(([number, text]) => [number, text.length])).toEqual([
      [1, 1 << 20],
      [2, 3],
    ]);
  });
});
