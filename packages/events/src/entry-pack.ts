/** Entries one after the other in a buffer that grows. */
const FIRST_CAPACITY = 512;

/** Writes the fields of entries. Whoever writes an entry reserves its bytes first. */
class EntryWriter {
  #bytes = Buffer.allocUnsafe(FIRST_CAPACITY);
  /** The same bytes: a DataView writes numbers several times faster than a Buffer. */
  #view = viewOf(this.#bytes);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  get room(): Uint8Array {
    return this.#bytes;
  }

  reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(2 * (this.#bytes.length + more));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
    this.#view = viewOf(grown);
  }

  /** Leaves room for bytes that are written later; returns their position. */
  skip(count: number): number {
    const at = this.#length;
    this.#length += count;
    return at;
  }

  byteAt(at: number, value: number): void {
    this.#bytes[at] = value;
  }

  /** Returns the length of the text in bytes. */
  text(text: string): number {
    const written = this.#bytes.write(text, this.#length);
    this.#length += written;
    return written;
  }

  float(value: number): void {
    this.#view.setFloat32(this.skip(4), value, true);
  }

  floats(values: Float32Array): void {
    let at = this.skip(values.byteLength);
    for (let index = 0; index < values.length; index++, at += 4) {
      this.#view.setFloat32(at, values[index] as number, true);
    }
  }

  double(value: number): void {
    this.#view.setFloat64(this.skip(8), value, true);
  }

  uint32(value: number): void {
    this.#view.setUint32(this.skip(4), value, true);
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** What the packs of all kinds of entries have in common. */
export abstract class EntryPack {
  protected readonly writer = new EntryWriter();

  /** Where the next entry begins. */
  get length(): number {
    return this.writer.length;
  }

  get bytes(): Buffer {
    return this.writer.bytes;
  }

  /** The same bytes with unused room behind them: reading an entry from it makes no new view. */
  get room(): Uint8Array {
    return this.writer.room;
  }
}
