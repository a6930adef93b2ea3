/**
 * The ratings of one user in the order of their times, the newest last, in arrays that a half-step
 * reads without a copy. Items are slots of the item replica. A rating that was taken back leaves a
 * tombstone with its time, so that an older rating of the item that arrives late does not count.
 */
import { enlarged, type KnownCell } from '@freshet/model';

/** A row of this length keeps a set of its slots: looking through all of them would take longer. */
const LONG = 1024;

const FIRST_CAPACITY = 4;
/** Bytes of a slot, a value and a time. */
const ENTRY_BYTES = 16;
/** Bytes of an entry of a Map or a Set, about. */
const MEMBER_BYTES = 64;

export class UserRow {
  slots = new Uint32Array(FIRST_CAPACITY);
  values = new Float32Array(FIRST_CAPACITY);
  times = new Float64Array(FIRST_CAPACITY);
  length = 0;
  readonly start = 0;
  #tombstones: Map<number, number> | undefined;
  #members: Set<number> | undefined;

  get bytes(): number {
    const members = (this.#tombstones?.size ?? 0) + (this.#members?.size ?? 0);
    return ENTRY_BYTES * this.slots.length + MEMBER_BYTES * members;
  }

  isRated(slot: number): boolean {
    return this.indexOf(slot) >= 0;
  }

  /** Age 0 is the newest. */
  slotFromEnd(age: number): number {
    return this.slots[this.length - 1 - age] as number;
  }

  /** The rating of an item, or its tombstone; undefined: it was never rated. */
  cellOf(slot: number): KnownCell | undefined {
    const at = this.indexOf(slot);
    if (at >= 0) return { value: this.values[at] as number, time: this.times[at] as number };
    const time = this.#tombstones?.get(slot);
    return time === undefined ? undefined : { value: null, time };
  }

  /** The items whose rating was taken back, and the times of that. */
  tombstones(): Iterable<readonly [slot: number, time: number]> {
    return this.#tombstones ?? [];
  }

  put(slot: number, value: number, time: number): void {
    this.#drop(slot);
    this.#tombstones?.delete(slot);
    if (this.length === this.slots.length) this.#grow();
    const at = this.placeOf(time);
    if (at < this.length) {
      for (const column of [this.slots, this.values, this.times]) {
        column.copyWithin(at + 1, at, this.length);
      }
    }
    this.slots[at] = slot;
    this.values[at] = value;
    this.times[at] = time;
    this.length++;
    if (this.#members) this.#members.add(slot);
    else if (this.length >= LONG) this.#members = new Set(this.slots.subarray(0, this.length));
  }

  takeBack(slot: number, time: number): void {
    this.#drop(slot);
    this.#tombstones ??= new Map();
    this.#tombstones.set(slot, time);
  }

  /** Takes many ratings back, in one pass over the row. */
  takeBackAll(gone: ReadonlySet<number>, time: number): void {
    let kept = 0;
    for (let at = 0; at < this.length; at++) {
      const slot = this.slots[at] as number;
      if (gone.has(slot)) continue;
      this.slots[kept] = slot;
      this.values[kept] = this.values[at] as number;
      this.times[kept] = this.times[at] as number;
      kept++;
    }
    this.length = kept;
    this.#tombstones ??= new Map();
    for (const slot of gone) {
      this.#members?.delete(slot);
      this.#tombstones.set(slot, time);
    }
  }

  /** The index for a rating of this time: behind all that are not newer, mostly at the end. */
  placeOf(time: number): number {
    let at = this.length;
    while (at > 0 && (this.times[at - 1] as number) > time) at--;
    return at;
  }

  /** The index of an item, or −1. Searched from the end: most lookups are of recent ratings. */
  indexOf(slot: number): number {
    if (this.length === 0 || this.#members?.has(slot) === false) return -1;
    return this.slots.lastIndexOf(slot, this.length - 1);
  }

  #drop(slot: number): void {
    const at = this.indexOf(slot);
    if (at < 0) return;
    for (const column of [this.slots, this.values, this.times]) {
      column.copyWithin(at, at + 1, this.length);
    }
    this.length--;
    this.#members?.delete(slot);
  }

  #grow(): void {
    const capacity = Math.ceil(1.5 * this.slots.length) + 1;
    this.slots = enlarged(this.slots, capacity);
    this.values = enlarged(this.values, capacity);
    this.times = enlarged(this.times, capacity);
  }
}
