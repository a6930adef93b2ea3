/** What a person is told while a file is imported: how far, how fast, what was left out and why. */
import type { FileRating, ReadOptions } from '@freshet/ratings-files';
import { ProgressLine } from '../progress-line.ts';
import type { ImportOutcome } from './import-ratings.ts';
import type { ImportRequest } from './options.ts';

/** Told one by one; beyond, only counted. */
const REFUSED_TOLD = 10;

export const tell = (line: string): void => void process.stdout.write(`${line}\n`);

export class Telling {
  readonly #request: ImportRequest;
  readonly #line: ProgressLine;
  #began = performance.now();
  #total: number | undefined;
  #share: number | undefined;
  #sent = 0;
  #refused = 0;

  constructor(request: ImportRequest) {
    this.#request = request;
    this.#line = new ProgressLine(process.stderr, request.quiet);
  }

  readonly onProgress: NonNullable<ReadOptions['onProgress']> = ({ bytes, totalBytes }) => {
    this.#share = totalBytes === undefined ? undefined : bytes / Math.max(1, totalBytes);
  };

  readonly onMalformed = (line: number, reason: string): void => {
    process.stderr.write(`${this.#request.path}, line ${line}: ${reason}; skipped\n`);
  };

  /** Sorting is done and sending begins. */
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
    const before = skipped > 0 ? `, ${skipped} sent before` : '';
    const left = this.#refused > 0 ? `, ${this.#refused} refused` : '';
    tell(`${sent} ratings sent${before}${left}, ${this.#rate} per second`);
    if (!interrupted) return;
    tell(this.#request.path === '-' ? 'interrupted' : 'interrupted: the same command continues');
  }

  get #rate(): number {
    const seconds = (performance.now() - this.#began) / 1_000;
    return Math.round(this.#sent / Math.max(0.001, seconds));
  }
}
