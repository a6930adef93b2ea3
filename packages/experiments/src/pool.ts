/** Runs tasks on worker threads that share the table. Results do not depend on their number. */
import { Worker } from 'node:worker_threads';
import type { RatingTable } from './rating-table.ts';
import { type ResultOf, runTask, type Task, type TaskProgress } from './task.ts';
import type { FromWorker } from './worker.ts';

interface PoolOptions<T extends Task> {
  /** 0: run all tasks in this thread. */
  readonly workers: number;
  readonly signal?: AbortSignal;
  readonly onProgress: (index: number, progress: TaskProgress) => void;
  readonly onResult: (index: number, result: ResultOf<T>) => void;
}

/** Resolves when all tasks are done, or after the signal. */
export async function runTasks<T extends Task>(
  tasks: readonly T[],
  table: RatingTable,
  options: PoolOptions<T>,
): Promise<void> {
  let next = 0;
  const takeNext = () => (options.signal?.aborted || next >= tasks.length ? undefined : next++);
  if (options.workers === 0) {
    for (let index = takeNext(); index !== undefined; index = takeNext()) {
      const at = index;
      const result = runTask(tasks[at], table, (progress) => options.onProgress(at, progress));
      options.onResult(at, result as ResultOf<T>);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return;
  }
  const count = Math.min(options.workers, tasks.length);
  await Promise.all(Array.from({ length: count }, () => serve(tasks, table, options, takeNext)));
}

/** Runs one worker from its first task until there are no more, or until the signal. */
function serve<T extends Task>(
  tasks: readonly T[],
  table: RatingTable,
  { signal, onProgress, onResult }: PoolOptions<T>,
  takeNext: () => number | undefined,
): Promise<void> {
  const first = takeNext();
  if (first === undefined) return Promise.resolve();
  let current = first;
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: table });
  return new Promise<void>((resolve, reject) => {
    const finish = (settle: () => void) => {
      signal?.removeEventListener('abort', stop);
      worker.terminate().then(settle, reject);
    };
    const stop = () => finish(resolve);
    signal?.addEventListener('abort', stop);
    worker.on('error', (error) => finish(() => reject(error)));
    worker.on('message', (message: FromWorker) => {
      if ('progress' in message) onProgress(current, message.progress);
      else if ('error' in message) finish(() => reject(new Error(message.error)));
      else {
        onResult(current, message.result as ResultOf<T>);
        const following = takeNext();
        if (following === undefined) return finish(resolve);
        current = following;
        worker.postMessage(tasks[current]);
      }
    });
    worker.postMessage(tasks[current]);
  });
}
