/** One process that the console watches, by the metrics and the readiness of its admin port. */
import type { Settings } from '@freshet/config';
import { MetricsPage } from '@freshet/telemetry';
import { measured, type ServiceState } from './live/frame.ts';
import { ScrapeWindow } from './scrape-window.ts';

interface TargetAddress {
  readonly service: string;
  /** host:port of its admin server. */
  readonly address: string;
}

/** Less than the second between two frames: a process that hangs must not delay the others. */
const ANSWER_LIMIT_MS = 800;

export class Target {
  readonly window = new ScrapeWindow();
  #downSince: number | null = null;
  #waitingFor: string | null = null;

  constructor(readonly at: TargetAddress) {}

  async look(now: number): Promise<void> {
    const [page, readiness] = await Promise.all([this.#get('/metrics'), this.#get('/readyz')]);
    if (page?.ok) this.window.add(now, MetricsPage.parse(page.text));
    else this.window.silence();
    // /metrics alone may time out: some metrics ask Kafka or Redis, and those may be down.
    const isUp = page !== undefined || readiness !== undefined;
    this.#downSince = isUp ? null : (this.#downSince ?? now);
    this.#waitingFor = readiness === undefined || readiness.ok ? null : readiness.text.trim();
  }

  state(): ServiceState {
    const known = this.window.latest;
    const startedSeconds = known?.sum('process_start_time_seconds');
    return {
      ...this.at,
      downSince: this.#downSince,
      waitingFor: this.#waitingFor,
      startedAt: measured(startedSeconds === undefined ? undefined : startedSeconds * 1000),
      memoryBytes: measured(known?.sum('process_resident_memory_bytes')),
      loopDelaySeconds: measured(known?.sum('nodejs_eventloop_lag_p99_seconds')),
      version: known?.label('freshet_build_info', 'version') ?? null,
    };
  }

  /** Undefined if the process does not answer, for whatever reason: its own log has the rest. */
  async #get(path: string): Promise<{ ok: boolean; text: string } | undefined> {
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
    try {
      const response = await fetch(`http://${this.at.address}${path}`, { signal });
      return { ok: response.ok, text: await response.text() };
    } catch {
      return undefined;
    }
  }
}

/** The processes that CONSOLE_TARGETS names, else the four services on this machine. */
export function targetsOf(settings: Settings): TargetAddress[] {
  if (settings.CONSOLE_TARGETS.length > 0) return [...settings.CONSOLE_TARGETS];
  const ports = {
    updater: settings.UPDATER_ADMIN_PORT,
    aggregator: settings.AGGREGATOR_ADMIN_PORT,
    scorer: settings.SCORER_ADMIN_PORT,
    console: settings.CONSOLE_ADMIN_PORT,
  };
  return Object.entries(ports)
    .filter(([, port]) => port > 0)
    .map(([service, port]) => ({ service, address: `127.0.0.1:${port}` }));
}
