/** One line on standard error: rewritten in place on a terminal, printed every 5 s elsewhere. */

const everyMs = { terminal: 200, log: 5_000 } as const;
const COLUMNS = 80;

type Screen = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>;

export class ProgressLine {
  #lastMs = Number.NEGATIVE_INFINITY;
  /** How many rows of the terminal the line takes now. */
  #rows = 0;

  constructor(
    private readonly quiet: boolean,
    private readonly screen: Screen = process.stderr,
  ) {}

  show(what: string, share: number | undefined, secondsLeft?: number): void {
    const now = performance.now();
    const { isTTY, columns } = this.screen;
    const pause = isTTY ? everyMs.terminal : everyMs.log;
    if (this.quiet || now - this.#lastMs < pause) return;
    this.#lastMs = now;
    const line = [bar(share), what, leftWords(secondsLeft)]
      .filter((part) => part !== '')
      .join('  ');
    if (!isTTY) return void this.screen.write(`${line}\n`);
    this.#erase();
    this.screen.write(line);
    this.#rows = Math.ceil(line.length / (columns || COLUMNS));
  }

  /** Removes the line from the terminal, so that other output can follow. */
  clear(): void {
    if (this.#rows > 0) this.#erase();
    this.#lastMs = Number.NEGATIVE_INFINITY;
  }

  /** From its first row to the end of the screen. */
  #erase(): void {
    const up = this.#rows > 1 ? `\u001B[${this.#rows - 1}A` : '';
    this.screen.write(`\r${up}\u001B[J`);
    this.#rows = 0;
  }
}

function bar(share: number | undefined): string {
  if (share === undefined) return '';
  const width = 20;
  const full = Math.round(width * Math.max(0, Math.min(1, share)));
  const percent = (100 * share).toFixed(0).padStart(3);
  return `[${'='.repeat(full)}${' '.repeat(width - full)}] ${percent} %`;
}

export function leftWords(seconds: number | undefined): string {
  if (seconds === undefined) return '';
  if (seconds < 90) return `${Math.ceil(seconds)} s left`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min left`;
  return `${(seconds / 3_600).toFixed(1)} h left`;
}
