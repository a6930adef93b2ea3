/** Parses the text format of Prometheus (/metrics) into series by name and labels. */
export type LabelSet = Readonly<Record<string, string>>;

interface Series {
  readonly name: string;
  readonly labels: LabelSet;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?[ \t]+(\S+)(?:[ \t]+-?\d+)?$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)",?/g;
const escapes: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' };
const infinities: Readonly<Record<string, number>> = {
  '+Inf': Number.POSITIVE_INFINITY,
  '-Inf': Number.NEGATIVE_INFINITY,
};

export class MetricsPage {
  readonly #byName = new Map<string, Series[]>();

  /** Skips lines that it cannot parse: one odd metric must not hide the others. */
  static parse(text: string): MetricsPage {
    const page = new MetricsPage();
    for (const line of text.split('\n')) {
      const [, name, labels, value] = LINE.exec(line) ?? [];
      if (name === undefined || value === undefined) continue;
      page.#add({ name, labels: labelsOf(labels ?? ''), value: numberOf(value) });
    }
    return page;
  }

  static of(values: Readonly<Record<string, number>>): MetricsPage {
    const page = new MetricsPage();
    for (const [name, value] of Object.entries(values)) page.#add({ name, labels: {}, value });
    return page;
  }

  static async scrape(adminPort: number | string): Promise<MetricsPage> {
    const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`);
    return MetricsPage.parse(await response.text());
  }

  all(): Series[] {
    return [...this.#byName.values()].flat();
  }

  /** The series of a metric that have these labels, whatever other labels they have. */
  series(name: string, labels: LabelSet = {}): Series[] {
    const wanted = Object.entries(labels);
    return (this.#byName.get(name) ?? []).filter(({ labels: own }) =>
      wanted.every(([label, value]) => own[label] === value),
    );
  }

  /** The values of all series with these labels, without those that are NaN (not measured yet). */
  values(name: string, labels: LabelSet = {}): number[] {
    return this.series(name, labels)
      .map(({ value }) => value)
      .filter((value) => !Number.isNaN(value));
  }

  /** The sum of these values; NaN if there are none. */
  sum(name: string, labels: LabelSet = {}): number {
    const values = this.values(name, labels);
    return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0);
  }

  label(name: string, label: string): string | undefined {
    return this.#byName.get(name)?.[0]?.labels[label];
  }

  /** Cumulative counts of a histogram by upper bound, summed over all series with these labels. */
  buckets(name: string, labels: LabelSet = {}): Map<number, number> {
    const found = new Map<number, number>();
    for (const { labels: own, value } of this.series(`${name}_bucket`, labels)) {
      const bound = numberOf(own.le ?? '');
      if (!Number.isNaN(bound)) found.set(bound, (found.get(bound) ?? 0) + value);
    }
    return found;
  }

  #add(series: Series): void {
    const known = this.#byName.get(series.name);
    if (known === undefined) this.#byName.set(series.name, [series]);
    else known.push(series);
  }
}

function labelsOf(text: string): LabelSet {
  const pairs = [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [
    name,
    value.replaceAll(/\\(.)/g, (whole, escaped: string) => escapes[escaped] ?? whole),
  ]);
  return Object.fromEntries(pairs);
}

function numberOf(text: string): number {
  return infinities[text] ?? (text === '' ? Number.NaN : Number(text));
}
