/** What the operator is told during an import: how far it is, how fast, what it skipped and why. */
import type { FileRating } from '@freshet/ratings-files';
import { say } from '../operator-command.ts';
import { ProgressLine } from '../progress-line.ts';
import { SkippedLines } from '../ratings-file-options.ts';
import type { ImportOutcome } from './import-ratings.ts';

/** Refused ratings beyond these are counted and not printed. */
const REFUSED_TOLD = 10;

export class Telling {
  readonly #path: string;
  readonly #line: ProgressLine;
  readonly #skipped: SkippedLines;
  readonly onMalformed: SkippedLines['add'];
  #began = performance.now();
  #total: number | undefined;
  #share: number | undefined;
  #sent = 0;
  #refused = 0;

  constructor({ path, quiet }: { readonly path: string; readonly quiet: boolean }) {
    this.#path = path;
    this.#line = new ProgressLine(quiet);
    this.#skipped = new SkippedLines(path);
    this.onMalformed = this.#skipped.add;
  }

  readonly onProgress = (share: number | undefined): void => {
    this.#share = share;
  };

  /** Sorting has ended and sending begins. */
  readonly onTotal = (ratings: number): void => {
    this.#total = ratings;
    this.#began = performance.now();
  };

  readonly onSent = (sent: number, skipped: number): void => {
    this.#sent = sent;
    if (this.#total !== undefined) this.#share = (sent + skipped) / this.#total;
    this.#line.show(`${sent} ratings sent, ${this.#rate} per second`, this.#share);
  };

  readonly onRefused = (rating: FileRating, reason: string): void => {
    if (++this.#refused > REFUSED_TOLD) return;
    process.stderr.write(`${JSON.stringify(rating)}: ${reason}; skipped\n`);
  };

  end({ sent, skipped, interrupted }: ImportOutcome): void {
    this.#sent = sent;
    this.#line.clear();
    this.#skipped.tellRest();
    const before = skipped > 0 ? `, ${skipped} sent before` : '';
    const left = this.#refused > 0 ? `, ${this.#refused} refused` : '';
    say(`${sent} ratings sent${before}${left}, ${this.#rate} per second`);
    if (!interrupted) return;
    say(this.#path === '-' ? 'interrupted' : 'interrupted: the same command continues');
  }

  get #rate(): number {
    const seconds = (performance.now() - this.#began) / 1_000;
    return Math.round(this.#sent / Math.max(0.001, seconds));
  }
}
