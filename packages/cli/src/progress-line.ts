/** One line on standard error: rewritten in place on a terminal, printed every 5 s elsewhere. */

const everyMs = { terminal: 200, log: 5_000 } as const;

export class ProgressLine {
  #lastMs = Number.NEGATIVE_INFINITY;
  #shown = false;

  constructor(private readonly quiet: boolean) {}

  show(what: string, share: number | undefined, secondsLeft?: number): void {
    const now = performance.now();
    const pause = process.stderr.isTTY ? everyMs.terminal : everyMs.log;
    if (this.quiet || now - this.#lastMs < pause) return;
    this.#lastMs = now;
    const line = [bar(share), what, leftWords(secondsLeft)]
      .filter((part) => part !== '')
      .join('  ');
    process.stderr.write(process.stderr.isTTY ? `\r\u001B[K${line}` : `${line}\n`);
    this.#shown = true;
  }

  /** Removes the line from the terminal, so that other output can follow. */
  clear(): void {
    if (this.#shown && process.stderr.isTTY) process.stderr.write('\r\u001B[K');
    this.#lastMs = Number.NEGATIVE_INFINITY;
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
