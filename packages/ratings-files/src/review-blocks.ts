/**
 * Reads review blocks: `product/productId: …` and other fields, one per line, with a blank line
 * between blocks. Four fields of a block make the rating; the text of the review is skipped.
 */
import { type ReadRecord, type RecordSource, toRating } from './fields.ts';

export class ReviewBlocks implements RecordSource {
  readonly #block = new Map<string, string>();
  line = 0;

  take(line: string, number: number): ReadRecord {
    if (line.trim() === '') return this.end();
    if (this.#block.size === 0) this.line = number;
    const colon = line.indexOf(': ');
    // A review text may have several lines; a line without a name continues the field before.
    if (colon > 0) this.#block.set(line.slice(0, colon), line.slice(colon + 2));
    else this.#block.set('', line);
    return undefined;
  }

  /** The rating of the block so far; undefined if no block has begun. */
  end(): ReadRecord {
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
