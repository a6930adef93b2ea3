/**
 * How is a review block a rating? `product/productId: …` and its companions, one per line, blocks
 * separated by blank lines; of each block four fields matter and the text of the review is skipped.
 */
import { type FileRating, type Malformed, toRating } from './fields.ts';

/** Feeds on lines and answers at the end of each block. */
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
    // A review text may run over several lines; what has no name belongs to the field before.
    if (colon > 0) this.#block.set(line.slice(0, colon), line.slice(colon + 2));
    else this.#block.set('', line);
    return undefined;
  }

  /** The rating of the block so far; undefined between blocks. */
  end(): FileRating | Malformed | undefined {
    if (this.#block.size === 0) return undefined;
    const block = this.#block;
    const rating = toRating(
      block.get('review/userId'),
      block.get('product/productId'),
      block.get('review/score') ?? '',
      block.get('review/time'),
    );
    block.clear();
    return rating;
  }
}
