/**
 * Gets the results of an experiment's tasks: from the results file if they are there, otherwise
 * from the pool. It tells the progress, and returns the results so far when stopped.
 */
import { runTasks } from './pool.ts';
import type { RatingTable } from './rating-table.ts';
import type { ResultsFile } from './results-file.ts';
import type { ResultOf, Task } from './task.ts';

interface RunnerProgress {
  readonly finished: number;
  readonly total: number;
  /** Share of the announced tasks that is done, 0 to 1. */
  readonly share: number;
  /** Undefined until a part of a task is done. */
  readonly secondsLeft: number | undefined;
}

interface RunnerOptions {
  readonly workers: number;
  readonly signal?: AbortSignal;
  readonly file?: ResultsFile;
  readonly onProgress?: (progress: RunnerProgress) => void;
}

export class Runner {
  readonly #startedMs = performance.now();
  #total = 0;
  #finished = 0;
  /** Tasks whose results were in the file. */
  #found = 0;

  constructor(
    readonly table: RatingTable,
    private readonly options: RunnerOptions,
  ) {}

  get interrupted(): boolean {
    return this.options.signal?.aborted ?? false;
  }

  /** Adds tasks that will be run, so that the time left is that of the whole experiment. */
  announce(tasks: number): void {
    this.#total += tasks;
  }

  /** Results in the order of the tasks. When stopped: the result so far of a task, or undefined. */
  async run<T extends Task>(tasks: readonly T[]): Promise<(ResultOf<T> | undefined)[]> {
    const { file, signal, workers } = this.options;
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
    this.options.onProgress?.({
      finished: this.#finished,
      total: this.#total,
      share: done / Math.max(1, this.#total),
      secondsLeft: worked > 0 ? (elapsed * Math.max(0, this.#total - done)) / worked : undefined,
    });
  }
}
