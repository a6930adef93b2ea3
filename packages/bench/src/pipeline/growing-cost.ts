/** Does a rating cost more CPU time, the more ratings are known? */
const SIZES = [10_000, 100_000, 1_000_000];
/** The cost at a size is measured over the next 20 % of ratings, and over at least 10,000. */
const SPAN_SHARE = 0.2;
const SPAN_LEAST = 10_000;

export class GrowingCost {
  readonly #looks: { readonly applied: number; readonly cpuSeconds: number }[] = [];

  look(applied: number, cpuSeconds: number): void {
    this.#looks.push({ applied, cpuSeconds });
  }

  figures() {
    const end = this.#looks.at(-1)?.applied ?? 0;
    return SIZES.flatMap((size) => {
      const span = Math.max(SPAN_LEAST, size * SPAN_SHARE);
      // At the last size there are no more ratings, so the ones before it are measured.
      const from = Math.min(size, end - span);
      const first = this.#looks.find(({ applied }) => applied >= from);
      const last = this.#looks.find(({ applied }) => applied >= from + span);
      if (first === undefined || last === undefined || from < 0) return [];
      const seconds = last.cpuSeconds - first.cpuSeconds;
      return [{ known: size, microseconds: (seconds / (last.applied - first.applied)) * 1e6 }];
    });
  }
}
