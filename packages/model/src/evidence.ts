/**
 * What an item keeps of its ratings: bounded, however many they are, and without a user's name. Each counts
 * with the vector that its user had before the rating moved it.
 */

import { EvidenceSample } from './evidence-sample.ts';
import { EvidenceSums } from './evidence-sums.ts';
import { hashId } from './random.ts';
import type { ModelSettings } from './settings.ts';

/** One rating: new (`old` is null), changed, or taken back (`value` is null). */
export interface EvidenceChange {
  readonly value: number | null;
  readonly old: number | null;
  /** The user's vector before this event moved it. */
  readonly vector: Float32Array;
}

/** Count and reach, unsigned integers. */
const HEADER_BYTES = 8;
/** About what the engine takes for objects and array headers. */
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

  /** Throws RangeError where the length cannot be right. */
  static fromBytes(bytes: Uint8Array, settings: ModelSettings): Evidence {
    if (bytes.length < HEADER_BYTES) throw new RangeError(`no evidence has ${bytes.length} bytes`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const evidence = new Evidence(settings);
    const body = bytes.subarray(HEADER_BYTES);
    evidence.form.restore(view.getUint32(0, true), view.getUint32(4, true), body);
    return evidence;
  }

  /** Ratings it stands for. */
  get count(): number {
    return this.form.count;
  }

  /** Memory it takes, an estimate. */
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

  /** `seed` is a hash of the item's id and the event's source offset: it decides what a sample keeps. */
  amend({ value, old, vector }: EvidenceChange, seed: number): void {
    if (old === null || this.count === 0) {
      if (value !== null) this.form.add(value, vector, seed);
    } else if (value === null) this.form.takeBack(old, vector, seed);
    else this.form.change(value, old, vector, seed);
  }
}

/** Of an event at an offset of the log that an item's shard applies. */
export function evidenceSeed(item: string, offset: number): number {
  return hashId(item, offset ^ (offset / 2 ** 32));
}
