/** Entries one after the other in a buffer that grows. */
const FIRST_CAPACITY = 512;

/** Whoever writes an entry reserves its bytes first. */
export abstract class EntryPack {
  #bytes = Buffer.allocUnsafe(FIRST_CAPACITY);
  /** The same bytes: a DataView writes numbers several times faster than a Buffer. */
  #view = viewOf(this.#bytes);
  #length = 0;

  /** Where the next entry begins. */
  get length(): number {
    return this.#length;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** The same bytes with unused room behind them: reading an entry from it makes no new view. */
  get room(): Uint8Array {
    return this.#bytes;
  }

  protected reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(2 * (this.#bytes.length + more));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
    this.#view = viewOf(grown);
  }

  /** Leaves room for bytes that are written later; returns their position. */
  protected skip(count: number): number {
    const at = this.#length;
    this.#length += count;
    return at;
  }

  protected byteAt(at: number, value: number): void {
    this.#bytes[at] = value;
  }

  /** Returns the length of the text in bytes. */
  protected text(text: string): number {
    const written = this.#bytes.write(text, this.#length);
    this.#length += written;
    return written;
  }

  protected float(value: number): void {
    this.#view.setFloat32(this.skip(4), value, true);
  }

  protected floats(values: Float32Array): void {
    let at = this.skip(values.byteLength);
    for (let index = 0; index < values.length; index++, at += 4) {
      this.#view.setFloat32(at, values[index] as number, true);
    }
  }

  protected double(value: number): void {
    this.#view.setFloat64(this.skip(8), value, true);
  }

  protected uint32(value: number): void {
    this.#view.setUint32(this.skip(4), value, true);
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
