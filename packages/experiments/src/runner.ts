/**
 * How does an experiment get its tasks done? From the results file if they are there, else from the
 * pool; with the share done and the time left told as it goes, and with what there is when it is
 * stopped.
 */
import { runTasks } from './pool.ts';
import type { RatingTable } from './rating-table.ts';
import type { ResultsFile } from './results-file.ts';
import type { ResultOf, Task } from './task.ts';

export interface RunnerProgress {
  readonly finished: number;
  readonly total: number;
  /** Of everything announced, 0 to 1. */
  readonly share: number;
  /** Undefined until there is something to judge by. */
  readonly secondsLeft: number | undefined;
}

interface RunnerOptions {
  readonly workers: number;
  readonly signal?: AbortSignal;
  readonly file?: ResultsFile;
  readonly onProgress?: (progress: RunnerProgress) => void;
}

export class Runner {
  readonly table: RatingTable;
  readonly #options: RunnerOptions;
  readonly #startedMs = performance.now();
  #total = 0;
  #finished = 0;
  /** Finished without work: found in the file. */
  #found = 0;

  constructor(table: RatingTable, options: RunnerOptions) {
    this.table = table;
    this.#options = options;
  }

  get interrupted(): boolean {
    return this.#options.signal?.aborted ?? false;
  }

  /**
   * How many tasks are to come, so that the time left is for the whole and not for the next few.
   */
  announce(tasks: number): void {
    this.#total += tasks;
  }

  /** In the order of the tasks; when stopped, what had been measured by then, or undefined. */
  async run<T extends Task>(tasks: readonly T[]): Promise<(ResultOf<T> | undefined)[]> {
    const { file, signal, workers } = this.#options;
    const results = tasks.map((task) => file?.find(task));
    const open = [...tasks.keys()].filter((index) => results[index] === undefined);
    this.#found += tasks.length - open.length;
    this.#finished += tasks.length - open.length;
    const shares = new Map<number, number>();
    await runTasks(
      open.map((index) => tasks[index]),
      this.table,
      {
        workers,
        ...(signal && { signal }),
        onProgress: (at, { share, soFar }) => {
          shares.set(at, share);
          if (soFar) results[open[at]] = soFar as ResultOf<T>;
          this.#tell(shares);
        },
        onResult: (at, result) => {
          shares.delete(at);
          results[open[at]] = result;
          file?.add(tasks[open[at]], result);
          this.#finished++;
          this.#tell(shares);
        },
      },
    );
    return results;
  }

  #tell(shares: ReadonlyMap<number, number>): void {
    let done = this.#finished;
    for (const share of shares.values()) done += share;
    const worked = done - this.#found;
    const elapsed = (performance.now() - this.#startedMs) / 1_000;
    this.#options.onProgress?.({
      finished: this.#finished,
      total: this.#total,
      share: done / Math.max(1, this.#total),
      secondsLeft: worked > 0 ? (elapsed * Math.max(0, this.#total - done)) / worked : undefined,
    });
  }
}
