/**
 * Lines of cells between separators. A cell in double quotes may contain separators, line ends, and
 * two double quotes for one (RFC 4180). A quote within a cell, as in 5" pipe, is only a character.
 */
import type { Emit, FileRating, Malformed, RecordSource } from './fields.ts';

/** If a quoted cell has more lines, the first of them is reported as malformed. */
const LINES_OF_A_CELL = 100;

export class SeparatedLines implements RecordSource {
  /** The lines of the record so far: more than one if a quoted cell has line ends. */
  #open: string[] = [];
  #firstOpen = 0;

  constructor(
    private readonly separator: string,
    private readonly parse: (cells: readonly string[]) => FileRating | Malformed,
    private skipNext: boolean,
  ) {}

  take(line: string, number: number, emit: Emit): void {
    if (this.#open.length === 0) {
      if (line.trim() === '') return;
      this.#firstOpen = number;
    }
    this.#open.push(line);
    const cells = cellsOf(this.#open.join('\n'), this.separator);
    if (cells === undefined) {
      if (this.#open.length === LINES_OF_A_CELL) this.#giveUp(emit);
      return;
    }
    this.#open.length = 0;
    if (!this.skipNext) emit(this.parse(cells), this.#firstOpen);
    this.skipNext = false;
  }

  end(emit: Emit): void {
    while (this.#open.length > 0) this.#giveUp(emit);
  }

  /** Reports the first open line as malformed, and reads the lines after it as records. */
  #giveUp(emit: Emit): void {
    const [lines, first] = [this.#open.slice(1), this.#firstOpen];
    this.#open = [];
    emit({ reason: 'a quote begins a cell and nothing ends it' }, first);
    for (const [at, line] of lines.entries()) this.take(line, first + 1 + at, emit);
  }
}

/** Undefined if the last cell is in quotes that do not end. */
export function cellsOf(text: string, separator: string): string[] | undefined {
  const cells = text.includes('"') ? quotedCells(text, separator) : text.split(separator);
  // More than one space aligns the columns.
  return separator === ' ' ? cells?.filter((cell) => cell !== '') : cells;
}

function quotedCells(text: string, separator: string): string[] | undefined {
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') cell += text[++at];
      else isQuoted = false;
    } else if (char === '"' && cell.trim() === '') isQuoted = true;
    else if (text.startsWith(separator, at)) {
      cells.push(cell);
      cell = '';
      at += separator.length - 1;
    } else cell += char;
  }
  if (isQuoted) return undefined;
  cells.push(cell);
  return cells;
}
