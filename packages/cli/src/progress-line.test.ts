import { expect, it } from 'vitest';
import { ProgressLine } from './progress-line.ts';

const ERASED = '\r\u001B[J';

function screenOf(columns: number, isTTY = true) {
  const written: string[] = [];
  const write = (text: string) => written.push(text) > 0;
  return { line: new ProgressLine(false, { isTTY, columns, write }), written };
}

it('takes back every row that it wrapped to on a narrow terminal', () => {
  const { line, written } = screenOf(40);
  line.show('x'.repeat(81), undefined);
  line.clear();
  line.show('short', undefined);
  line.clear();
  line.clear();
  expect(written).toEqual([ERASED, 'x'.repeat(81), '\r\u001B[2A\u001B[J', ERASED, 'short', ERASED]);
});

it('is a line of its own in a log, and is not taken back there', () => {
  const { line, written } = screenOf(40, false);
  line.show('copying', 0.5, 20);
  line.clear();
  expect(written).toEqual(['[==========          ]  50 %  copying  20 s left\n']);
});
