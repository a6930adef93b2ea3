/**
 * How is a metric declared? By the services that show it, its name, its question, and the closed set of
 * values of each label: every combination is there, at zero, from the first scrape, so that a rate or an
 * alert never waits for a series to be born. A label whose values come with a deployment is `[]`.
 */
import { Counter, Gauge, Histogram, type Metric } from 'prom-client';

export type Service = 'updater' | 'aggregator' | 'scorer' | 'console';
export type Labels = Readonly<Record<string, readonly string[]>>;

interface Declared<M extends Metric = Metric> {
  readonly metric: M;
  readonly services: readonly Service[];
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly name: string;
  readonly help: string;
  readonly labels: Labels;
}

type Name<L extends Labels> = Extract<keyof L, string>;
type By = readonly Service[];

export class MetricTable {
  readonly rows: Declared[] = [];

  counter<L extends Labels = Record<never, never>>(
    services: By,
    name: string,
    help: string,
    labels?: L,
  ) {
    const metric = new Counter<Name<L>>({ name, help, labelNames: names(labels), registers: [] });
    return this.#add({ metric, services, kind: 'counter', name, help, labels: labels ?? {} });
  }

  gauge<L extends Labels = Record<never, never>>(
    services: By,
    name: string,
    help: string,
    labels?: L,
  ) {
    const metric = new Gauge<Name<L>>({ name, help, labelNames: names(labels), registers: [] });
    return this.#add({ metric, services, kind: 'gauge', name, help, labels: labels ?? {} });
  }

  histogram<L extends Labels = Record<never, never>>(
    services: By,
    name: string,
    help: string,
    buckets: number[],
    labels?: L,
  ) {
    const options = { name, help, buckets, labelNames: names(labels), registers: [] };
    const metric = new Histogram<Name<L>>(options);
    return this.#add({ metric, services, kind: 'histogram', name, help, labels: labels ?? {} });
  }

  #add<M extends Metric>(row: Declared<M>): M {
    this.rows.push(row);
    return row.metric;
  }
}

/** Every combination of the values of closed labels; none at all where one of them is open. */
export function combinations(labels: Labels): Record<string, string>[] {
  return Object.entries(labels).reduce<Record<string, string>[]>(
    (found, [label, values]) =>
      found.flatMap((each) => values.map((value) => ({ ...each, [label]: value }))),
    [{}],
  );
}

function names<L extends Labels>(labels: L | undefined): Name<L>[] {
  return Object.keys(labels ?? {}) as Name<L>[];
}
