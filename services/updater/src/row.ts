/**
 * The ratings of one user or one item, in event order, the newest last, as arrays that a half-step
 * reads without a copy. Neighbours are slots of the other side's replica. What was taken back is
 * remembered by its time, so that an older rating that comes late does not return.
 */
/** From this length on, a row remembers who is in it instead of searching for each newcomer. */
const LONG = 1024;

export class Row {
  slots: Uint32Array;
  values: Float32Array;
  times: Float64Array;
  length = 0;
  readonly start = 0;
  #tombstones: Map<number, number> | undefined;
  #members: Set<number> | undefined;
  #newest: number | undefined = 0;
  /** The last question and its answer: a rating asks the same thing three times. */
  #asked = -1;
  #answer = -1;

  constructor(capacity = 4) {
    this.slots = new Uint32Array(capacity);
    this.values = new Float32Array(capacity);
    this.times = new Float64Array(capacity);
  }

  isRated(slot: number): boolean {
    return this.#find(slot) >= 0;
  }

  /** When this neighbour was last rated or taken back. */
  timeOf(slot: number): number | undefined {
    const at = this.#find(slot);
    return at >= 0 ? this.times[at] : this.#tombstones?.get(slot);
  }

  /** Of the ratings that stand; searched for only after the newest was taken back. */
  get newestTime(): number {
    if (this.#newest === undefined) {
      this.#newest = 0;
      for (let at = 0; at < this.length; at++) {
        this.#newest = Math.max(this.#newest, this.times[at] ?? 0);
      }
    }
    return this.#newest;
  }

  put(slot: number, value: number, time: number): void {
    this.#drop(slot);
    this.#tombstones?.delete(slot);
    if (this.length === this.slots.length) this.#grow();
    this.slots[this.length] = slot;
    this.values[this.length] = value;
    this.times[this.length] = time;
    if (this.#newest !== undefined && time > this.#newest) this.#newest = time;
    this.length++;
    this.#asked = -1;
    if (this.#members) this.#members.add(slot);
    else if (this.length >= LONG) this.#members = new Set(this.slots.subarray(0, this.length));
  }

  takeBack(slot: number, time: number): void {
    this.#drop(slot);
    this.#tombstones ??= new Map();
    this.#tombstones.set(slot, time);
  }

  /** The same for many at once, in one pass over the row. */
  takeBackAll(gone: ReadonlySet<number>, time: number): void {
    let kept = 0;
    for (let at = 0; at < this.length; at++) {
      const slot = this.slots[at] ?? 0;
      if (gone.has(slot)) continue;
      this.slots[kept] = slot;
      this.values[kept] = this.values[at] ?? 0;
      this.times[kept] = this.times[at] ?? 0;
      kept++;
    }
    this.length = kept;
    this.#newest = undefined;
    this.#asked = -1;
    this.#tombstones ??= new Map();
    for (const slot of gone) {
      this.#members?.delete(slot);
      this.#tombstones.set(slot, time);
    }
  }

  /** Searched from the newest: most questions are about what was rated a moment ago. */
  #find(slot: number): number {
    if (slot === this.#asked) return this.#answer;
    this.#asked = slot;
    this.#answer = this.#search(slot);
    return this.#answer;
  }

  #search(slot: number): number {
    if (this.length === 0 || this.#members?.has(slot) === false) return -1;
    return this.slots.lastIndexOf(slot, this.length - 1);
  }

  #drop(slot: number): void {
    const at = this.#find(slot);
    if (at < 0) return;
    if (this.times[at] === this.#newest) this.#newest = undefined;
    for (const column of [this.slots, this.values, this.times]) {
      column.copyWithin(at, at + 1, this.length);
    }
    this.length--;
    this.#asked = -1;
    this.#members?.delete(slot);
  }

  #grow(): void {
    const capacity = Math.ceil(1.5 * this.slots.length) + 1;
    const old = { slots: this.slots, values: this.values, times: this.times };
    this.slots = new Uint32Array(capacity);
    this.values = new Float32Array(capacity);
    this.times = new Float64Array(capacity);
    this.slots.set(old.slots);
    this.values.set(old.values);
    this.times.set(old.times);
  }
}
