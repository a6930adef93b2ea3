/**
 * How many updates does one CPU second make? Measures each update by the wall clock and multiplies
 * by the share of the time in which this thread ran, so that other processes do not count.
 */
import { readFileSync } from 'node:fs';

export class CpuStopwatch {
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

/** CPU time of this thread so far; undefined where the system does not tell it. */
function threadCpuMs(): number | undefined {
  try {
    const [nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
    const ms = Number(nanoseconds) / 1e6;
    return ms > 0 ? ms : undefined;
  } catch {
    return undefined;
  }
}
