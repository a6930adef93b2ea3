/**
 * A real Prometheus on loopback with the configuration of deploy/, but with other targets and
 * shorter intervals.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child, freePort } from '@freshet/local';
import { parse, stringify } from 'yaml';
import { prometheusFolder } from './monitoring.ts';

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Result {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

const START_LIMIT_MS = 180_000;
/** Instead of five seconds: a test need not wait that long to see a change. */
const INTERVAL = '1s';

export class PrometheusServer {
  readonly #child: Child;
  readonly #url: string;
  readonly #folder: string;

  private constructor(child: Child, url: string, folder: string) {
    this.#child = child;
    this.#url = url;
    this.#folder = folder;
  }

  /** `addresses` says where each target of the configuration is. */
  static async start(addresses: ReadonlyMap<string, string>): Promise<PrometheusServer> {
    const folder = mkdtempSync(join(tmpdir(), 'freshet-prometheus-'));
    const file = join(folder, 'prometheus.yml');
    writeFileSync(file, configuration(addresses));
    const address = `127.0.0.1:${await freePort()}`;
    const child = Child.start({
      name: 'Prometheus',
      command: 'prometheus',
      args: [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=${address}`,
        '--log.level=warn',
      ],
      logFile: join(folder, 'prometheus.log'),
    });
    const url = `http://${address}`;
    const server = new PrometheusServer(child, url, folder);
    await child.until(() => answers(`${url}/-/ready`), START_LIMIT_MS);
    return server;
  }

  async query(expression: string): Promise<Sample[]> {
    const query = new URLSearchParams({ query: expression });
    const { result } = (await this.#get(`query?${query}`)) as { result: Result[] };
    return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
  }

  /** The one value of an expression; undefined if it has none. */
  async value(expression: string): Promise<number | undefined> {
    const [sample] = await this.query(expression);
    return sample?.value;
  }

  /** The names of all series there are. */
  async names(): Promise<Set<string>> {
    return new Set((await this.#get('label/__name__/values')) as string[]);
  }

  /** Every series of our metrics that was ever scraped, also one that the last scrape missed. */
  async series(): Promise<Set<string>> {
    const asked = new URLSearchParams({ 'match[]': '{__name__=~"freshet_.+"}', start: '0' });
    const found = (await this.#get(`series?${asked}`)) as Readonly<Record<string, string>>[];
    return new Set(found.map((labels) => JSON.stringify(Object.entries(labels).sort())));
  }

  async firing(): Promise<Set<string>> {
    const { alerts } = (await this.#get('alerts')) as {
      alerts: { state: string; labels: Record<string, string> }[];
    };
    const firing = alerts.filter(({ state }) => state === 'firing');
    return new Set(firing.map(({ labels }) => labels.alertname ?? ''));
  }

  async close(): Promise<void> {
    await this.#child.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #get(path: string): Promise<unknown> {
    const response = await fetch(`${this.#url}/api/v1/${path}`);
    const answer = (await response.json()) as { status: string; data: unknown; error?: string };
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  }
}

function configuration(addresses: ReadonlyMap<string, string>): string {
  const given = parse(readFileSync(join(prometheusFolder, 'prometheus.yml'), 'utf8'));
  const times = { scrape_interval: INTERVAL, scrape_timeout: INTERVAL };
  for (const job of given.scrape_configs) {
    for (const config of job.static_configs) {
      config.targets = config.targets.map((target: string) => addresses.get(target) ?? target);
    }
  }
  return stringify({
    ...given,
    global: { ...given.global, ...times, evaluation_interval: INTERVAL },
    rule_files: given.rule_files.map((pattern: string) => join(prometheusFolder, pattern)),
  });
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}
