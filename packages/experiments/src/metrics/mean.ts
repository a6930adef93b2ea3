/** Mean and sample deviation of many figures; the mean of none is undefined. */

export class Mean {
  #sum = 0;
  #count = 0;

  add(value: number | undefined): void {
    if (value === undefined) return;
    this.#sum += value;
    this.#count++;
  }

  get count(): number {
    return this.#count;
  }

  get value(): number | undefined {
    return this.#count === 0 ? undefined : this.#sum / this.#count;
  }
}

export function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, x) => sum + x, 0) / values.length;
}

/** The deviation of a sample, divided by n − 1; 0 for a single value. */
export function deviation(values: readonly number[]): number {
  const centre = mean(values);
  if (centre === undefined || values.length < 2) return 0;
  return Math.sqrt(values.reduce((sum, x) => sum + (x - centre) ** 2, 0) / (values.length - 1));
}
