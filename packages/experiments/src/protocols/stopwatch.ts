/**
 * How many updates does one second of one processor do? The clock around each update, corrected by
 * the share of the time this thread really ran: other threads and processes must not count against
 * it.
 */
import { readFileSync } from 'node:fs';

export class Stopwatch {
  #startedMs = 0;
  #cpuAtStart: number | undefined;
  #insideMs = 0;
  #laps = 0;

  /** Wall-clock seconds of one piece of work. */
  static measure(work: () => void): number {
    const from = performance.now();
    work();
    return (performance.now() - from) / 1_000;
  }

  start(): void {
    this.#startedMs = performance.now();
    this.#cpuAtStart = threadCpuMs();
  }

  time(work: () => void): void {
    const from = performance.now();
    work();
    this.#insideMs += performance.now() - from;
    this.#laps++;
  }

  /** Undefined before anything was timed. */
  perCpuSecond(): number | undefined {
    if (this.#laps === 0 || this.#insideMs === 0) return undefined;
    const wall = performance.now() - this.#startedMs;
    const cpu = threadCpuMs();
    const share =
      cpu === undefined || this.#cpuAtStart === undefined || wall === 0
        ? 1
        : Math.min(1, (cpu - this.#cpuAtStart) / wall);
    return (1_000 * this.#laps) / (this.#insideMs * share);
  }
}

/** What this thread has run so far; undefined where the system does not tell. */
function threadCpuMs(): number | undefined {
  try {
    const [nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
    const ms = Number(nanoseconds) / 1e6;
    return ms > 0 ? ms : undefined;
  } catch {
    return undefined;
  }
}
