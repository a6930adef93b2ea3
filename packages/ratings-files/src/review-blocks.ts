/**
 * Reads review blocks: `product/productId: …` and other fields, one per line, with a blank line
 * between blocks. Four fields of a block make the rating; the text of the review is skipped.
 */
import { type FileRating, type Malformed, toRating } from './fields.ts';

/** Takes lines and returns the rating at the end of each block. */
export class ReviewBlocks {
  readonly #block = new Map<string, string>();
  #firstLine = 0;

  get firstLine(): number {
    return this.#firstLine;
  }

  line(line: string, number: number): FileRating | Malformed | undefined {
    if (line.trim() === '') return this.end();
    if (this.#block.size === 0) this.#firstLine = number;
    const colon = line.indexOf(': ');
    // A review text may have several lines; a line without a name continues the field before.
    if (colon > 0) this.#block.set(line.slice(0, colon), line.slice(colon + 2));
    else this.#block.set('', line);
    return undefined;
  }

  /** The rating of the block so far; undefined if no block has begun. */
  end(): FileRating | Malformed | undefined {
    if (this.#block.size === 0) return undefined;
    const block = this.#block;
    const rating = toRating(
      block.get('review/userId'),
      block.get('product/productId'),
      block.get('review/score') ?? '', // no score is malformed: undefined would mean a rating of 1
      block.get('review/time'),
    );
    block.clear();
    return rating;
  }
}
