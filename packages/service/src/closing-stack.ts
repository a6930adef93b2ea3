/** Closes resources in reverse order of their opening, and closes the rest even if one fails. */
export class ClosingStack {
  readonly #closers: (() => Promise<void>)[] = [];

  get size(): number {
    return this.#closers.length;
  }

  own<T extends { close(): Promise<void> }>(resource: T): T {
    this.#closers.push(async () => resource.close());
    return resource;
  }

  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closers.splice(0).reverse()) {
      await close().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw new AggregateError(failures, 'unclean shutdown');
  }
}
