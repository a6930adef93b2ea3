/** Does a rating cost more the more are known? CPU seconds between looks, around some sizes. */
const SIZES = [10_000, 100_000, 1_000_000];
/** A size is measured from itself on, over this share of it, and at least so many ratings. */
const SPAN_SHARE = 0.2;
const SPAN_LEAST = 10_000;

interface Look {
  readonly applied: number;
  readonly cpuSeconds: number;
}

export class GrowingCost {
  readonly #looks: Look[] = [];

  look(applied: number, cpuSeconds: number): void {
    this.#looks.push({ applied, cpuSeconds });
  }

  figures(): { known: number; microseconds: number }[] {
    const end = this.#looks.at(-1)?.applied ?? 0;
    return SIZES.flatMap((size) => {
      const span = Math.max(SPAN_LEAST, size * SPAN_SHARE);
      // The last of them ends with the ratings.
      const from = Math.min(size, end - span);
      const first = this.#looks.find(({ applied }) => applied >= from);
      const last = this.#looks.find(({ applied }) => applied >= from + span);
      if (first === undefined || last === undefined || from < 0) return [];
      const seconds = last.cpuSeconds - first.cpuSeconds;
      return [{ known: size, microseconds: (seconds / (last.applied - first.applied)) * 1e6 }];
    });
  }
}
