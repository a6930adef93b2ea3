/**
 * What an item keeps of its ratings. Its size is bounded, however many ratings there are, and it
 * names no user. Each rating counts with the vector that its user had before the rating moved it.
 */

import { EvidenceSample } from './evidence-sample.ts';
import { EvidenceSums } from './evidence-sums.ts';
import { hashId } from './random.ts';
import type { ModelSettings } from './settings.ts';

/** One event: a rating is new (`old` is null), changed, or taken back (`value` is null). */
export interface EvidenceChange {
  readonly value: number | null;
  readonly old: number | null;
  /** The user's vector before this event moved it. */
  readonly vector: Float32Array;
}

/** Count and reach as unsigned 32-bit integers. */
const HEADER_BYTES = 8;
/** Estimated memory of the objects and array headers, in bytes. */
const OBJECT_BYTES = 500;

export class Evidence {
  readonly form: EvidenceSums | EvidenceSample;

  private constructor({ loss, factorCount }: ModelSettings) {
    this.form =
      loss === 'squared' ? new EvidenceSums(factorCount) : new EvidenceSample(factorCount);
  }

  static empty(settings: ModelSettings): Evidence {
    return new Evidence(settings);
  }

  /** Throws RangeError if the length of the bytes does not fit the count and the settings. */
  static fromBytes(bytes: Uint8Array, settings: ModelSettings): Evidence {
    if (bytes.length < HEADER_BYTES)
      throw new RangeError(`evidence has at least ${HEADER_BYTES} bytes, not ${bytes.length}`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const evidence = new Evidence(settings);
    const body = bytes.subarray(HEADER_BYTES);
    evidence.form.restore(view.getUint32(0, true), view.getUint32(4, true), body);
    return evidence;
  }

  /** Number of ratings that the evidence represents. */
  get count(): number {
    return this.form.count;
  }

  /** Estimated memory in bytes. */
  get byteLength(): number {
    return OBJECT_BYTES + this.form.byteLength;
  }

  /** Little-endian. */
  toBytes(): Uint8Array {
    const { count, reach } = this.form;
    const body = this.form.toBytes();
    const bytes = new Uint8Array(HEADER_BYTES + body.length);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, count, true);
    view.setUint32(4, reach, true);
    bytes.set(body, HEADER_BYTES);
    return bytes;
  }

  /** `seed`, a hash of the item's id and the source offset, decides which pairs a sample keeps. */
  amend({ value, old, vector }: EvidenceChange, seed: number): void {
    if (old === null || this.count === 0) {
      if (value !== null) this.form.add(value, vector, seed);
    } else if (value === null) this.form.takeBack(old, vector, seed);
    else this.form.change(value, old, vector, seed);
  }
}

/** The seed of an event, from the item's id and the event's offset in the log. */
export function evidenceSeed(item: string, offset: number): number {
  return hashId(item, offset ^ (offset / 2 ** 32));
}
