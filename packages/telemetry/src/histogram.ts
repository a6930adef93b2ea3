/**
 * Counts observations in buckets. prom-client's own histogram writes the labels into a text with
 * each observation, to find the series by it; a scorer observes twice for each answer.
 */
import type { MetricObjectWithValues, MetricValueWithName } from 'prom-client';

type LabelsOf<T extends string> = Readonly<Partial<Record<T, string>>>;

export class Histogram<T extends string> {
  readonly #series = new Map<string, Series>();

  constructor(
    readonly name: string,
    readonly help: string,
    readonly bounds: readonly number[],
    private readonly labelNames: readonly T[],
  ) {}

  observe(labels: LabelsOf<T>, value: number): void {
    this.labels(labels).observe(value);
  }

  /** The result, when called, observes the seconds since this call. */
  startTimer(labels: LabelsOf<T>): () => void {
    const began = performance.now();
    return () => this.observe(labels, (performance.now() - began) / 1_000);
  }

  /** The series with these labels; whoever observes often keeps it. */
  labels(labels: LabelsOf<T>): Series {
    const key = this.labelNames.map((name) => labels[name] ?? '').join('\n');
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const series = new Series(labels, this.bounds);
    this.#series.set(key, series);
    return series;
  }

  /** Shows the series with these labels without any observation. */
  zero(labels: LabelsOf<T>): void {
    this.labels(labels).clear();
  }

  /** As the registry of prom-client asks for it. */
  async get(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    const { name, help } = this;
    const values = [...this.#series.values()].flatMap((series) => series.shownAs(name));
    return { name, help, type: 'histogram' as never, aggregator: 'sum', collect: () => {}, values };
  }
}

class Series {
  /** One for each bound, and one for what lies above the last. */
  readonly #counts: number[];
  #sum = 0;

  constructor(
    private readonly labels: Readonly<Record<string, string | undefined>>,
    private readonly bounds: readonly number[],
  ) {
    this.#counts = [...bounds, Number.POSITIVE_INFINITY].map(() => 0);
  }

  observe(value: number): void {
    let at = 0;
    while (at < this.bounds.length && !(value <= (this.bounds[at] as number))) at++;
    this.#counts[at] = (this.#counts[at] as number) + 1;
    this.#sum += value;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#sum = 0;
  }

  shownAs(name: string): MetricValueWithName<string>[] {
    let count = 0;
    const buckets = this.#counts.map((here, at) => {
      count += here;
      const labels = { le: this.bounds[at] ?? '+Inf', ...this.labels } as Record<string, string>;
      return { metricName: `${name}_bucket`, labels, value: count };
    });
    const labels = this.labels as Record<string, string>;
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
