/** Which slots of a table are in use. Removed slots are reused, the last removed first. */
export class Slots {
  readonly #removed: number[] = [];
  readonly #isRemoved = new Set<number>();
  #end = 0;

  get size(): number {
    return this.#end - this.#removed.length;
  }

  get end(): number {
    return this.#end;
  }

  get removed(): readonly number[] {
    return this.#removed;
  }

  take(): number {
    const reused = this.#removed.pop();
    if (reused === undefined) return this.#end++;
    this.#isRemoved.delete(reused);
    return reused;
  }

  release(slot: number): void {
    this.check(slot);
    this.#removed.push(slot);
    this.#isRemoved.add(slot);
  }

  check(slot: number): void {
    if (!(slot >= 0 && slot < this.#end && Number.isInteger(slot)) || this.#isRemoved.has(slot)) {
      throw new RangeError(`slot ${slot} is not in use (${this.#end} handed out)`);
    }
  }
}
