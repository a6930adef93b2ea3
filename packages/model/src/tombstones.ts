/** When a user took a rating back, so that an older one which arrives later stays out. */
export class Tombstones {
  readonly #times = new Map<string, Map<string, number>>();

  timeOf(user: string, item: string): number | undefined {
    return this.#times.get(user)?.get(item);
  }

  put(user: string, item: string, time: number): void {
    const own = this.#times.get(user) ?? new Map<string, number>();
    own.set(item, time);
    this.#times.set(user, own);
  }

  remove(user: string, item: string): void {
    this.#times.get(user)?.delete(item);
  }

  removeAll(user: string): void {
    this.#times.delete(user);
  }
}
