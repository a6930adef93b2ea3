/** A row of the reference kernels, in plain arrays. */

import type { KernelRow } from './kernels.ts';

export class ReferenceRow implements KernelRow {
  length = 0;
  slots = new Uint32Array();
  values = new Float32Array();
  weights = new Float32Array();
  copies = new Float32Array();

  constructor(entries: number) {
    this.reserve(entries);
  }

  reserve(entries: number): void {
    if (entries <= this.slots.length) return;
    const capacity = Math.max(entries, 2 * this.slots.length);
    this.slots = new Uint32Array(capacity);
    this.values = new Float32Array(capacity);
    this.weights = new Float32Array(capacity).fill(1);
    this.copies = new Float32Array(capacity).fill(1);
  }
}
