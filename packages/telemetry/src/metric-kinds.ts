/**
 * How metrics are declared: the services that show a metric, its name, its question, and all values
 * of each label; `[]` if they are known only at run time. Every combination of values is shown from
 * the first scrape on, counters at zero, so that no rate or alert misses the first increase.
 */
import { Counter, Gauge, type Metric } from 'prom-client';
import { Histogram } from './histogram.ts';

export type Service = 'updater' | 'aggregator' | 'scorer' | 'console';
type Labels = Readonly<Record<string, readonly string[]>>;

type AnyMetric = Metric | Histogram<string>;

export interface Declared<M extends AnyMetric = AnyMetric> {
  readonly metric: M;
  readonly services: readonly Service[];
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly name: string;
  readonly help: string;
  readonly labels: Labels;
}

type Name<L extends Labels> = Extract<keyof L, string>;
type None = Record<never, never>;

/** Declares the metrics that the same services show. */
export class MetricGroup {
  constructor(
    readonly rows: Declared[],
    readonly services: readonly Service[],
  ) {}

  counter<L extends Labels = None>(name: string, labels = {} as L) {
    return this.#asking((help) => {
      const metric = new Counter<Name<L>>({ name, help, labelNames: names(labels), registers: [] });
      return { metric, kind: 'counter', name, help, labels };
    });
  }

  gauge<L extends Labels = None>(name: string, labels = {} as L) {
    return this.#asking((help) => {
      const metric = new Gauge<Name<L>>({ name, help, labelNames: names(labels), registers: [] });
      return { metric, kind: 'gauge', name, help, labels };
    });
  }

  histogram<L extends Labels = None>(name: string, buckets: number[], labels: L) {
    return this.#asking((help) => {
      const metric = new Histogram(name, help, buckets, names(labels));
      return { metric, kind: 'histogram', name, help, labels };
    });
  }

  #asking<M extends AnyMetric>(declare: (help: string) => Omit<Declared<M>, 'services'>) {
    return {
      /** The question of an operator that the metric answers. */
      asks: (help: string): M => {
        const row = declare(help);
        this.rows.push({ ...row, services: this.services });
        return row.metric;
      },
    };
  }
}

/** Every combination of label values; none if one label has values only at run time. */
export function combinations(labels: Labels): Record<string, string>[] {
  return Object.entries(labels).reduce<Record<string, string>[]>(
    (found, [label, values]) =>
      found.flatMap((each) => values.map((value) => ({ ...each, [label]: value }))),
    [{}],
  );
}

function names<L extends Labels>(labels: L): Name<L>[] {
  return Object.keys(labels) as Name<L>[];
}
