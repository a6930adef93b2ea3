/**
 * Allocates and frees the segments that rows are made of: stretches of typed arrays. A segment is a
 * number; 0 stands for none. Lengths are powers of two, so that a freed segment can be used again.
 */
import { enlarged } from './enlarged.ts';

/** Rating i has its slot at slots[2i] and its value at values[2i + 1], in one cache line. */
interface RatingPage {
  readonly slots: Uint32Array;
  readonly values: Float32Array;
  /** Empty if times are not kept. */
  readonly times: Float64Array;
}

const PAGE_BITS = 14;
const PAGE_LENGTH = 1 << PAGE_BITS;
const LEAST = 2;
const MOST = 1 << 10;

export class SegmentPool {
  readonly #pages: RatingPage[] = [];
  /** Freed segments, by the logarithm of their length. */
  readonly #free: number[][] = Array.from({ length: 1 + Math.log2(MOST) }, () => []);
  #openEnd = PAGE_LENGTH;
  #count = 1;
  /** By segment: its place, row position of its first rating, previous segment, log₂ of length. */
  #place = new Uint32Array(64);
  #base = new Uint32Array(64);
  #previous = new Uint32Array(64);
  #size = new Uint8Array(64);

  constructor(private readonly timed: boolean) {}

  get byteLength(): number {
    const perRating = this.timed ? 16 : 8;
    return this.#pages.length * PAGE_LENGTH * perRating + this.#size.length * 13;
  }

  /** Allocates the next segment of a row with this length, whose last segment is `previous`. */
  take(rowLength: number, previous: number): number {
    const wanted = Math.min(MOST, Math.max(LEAST, rowLength / 4));
    const size = Math.floor(Math.log2(wanted));
    const segment = this.#free[size].pop() ?? this.#carve(size);
    this.#base[segment] = rowLength;
    this.#previous[segment] = previous;
    return segment;
  }

  release(segment: number): void {
    this.#free[this.#size[segment]].push(segment);
  }

  pageOf(segment: number): RatingPage {
    return this.#pages[this.#place[segment] >>> PAGE_BITS];
  }

  /** Index of the segment's first rating within its page. */
  startOf(segment: number): number {
    return this.#place[segment] & (PAGE_LENGTH - 1);
  }

  /** Position of the segment's first rating in its row. */
  baseOf(segment: number): number {
    return this.#base[segment];
  }

  /** Index within the page of the rating at a position of the row. */
  indexOf(segment: number, position: number): number {
    return this.startOf(segment) + position - this.#base[segment];
  }

  previousOf(segment: number): number {
    return this.#previous[segment];
  }

  capacityOf(segment: number): number {
    return 1 << this.#size[segment];
  }

  #carve(size: number): number {
    const length = 1 << size;
    if (this.#openEnd + length > PAGE_LENGTH) this.#addPage();
    const segment = this.#count++;
    if (segment === this.#size.length) this.#growHeads();
    this.#place[segment] = (this.#pages.length - 1) * PAGE_LENGTH + this.#openEnd;
    this.#size[segment] = size;
    this.#openEnd += length;
    return segment;
  }

  #addPage(): void {
    const shared = new ArrayBuffer(8 * PAGE_LENGTH);
    this.#pages.push({
      slots: new Uint32Array(shared),
      values: new Float32Array(shared),
      times: new Float64Array(this.timed ? PAGE_LENGTH : 0),
    });
    this.#openEnd = 0;
  }

  #growHeads(): void {
    const length = Math.ceil(this.#size.length * 1.25);
    this.#place = enlarged(this.#place, length);
    this.#base = enlarged(this.#base, length);
    this.#previous = enlarged(this.#previous, length);
    this.#size = enlarged(this.#size, length);
  }
}
