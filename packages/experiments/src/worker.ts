/** One thread of a pool: receives a task, sends its progress and then its result. */
import { parentPort, workerData } from 'node:worker_threads';
import type { RatingTable } from './rating-table.ts';
import { runTask, type Task, type TaskProgress } from './task.ts';

export type FromWorker =
  | { readonly progress: TaskProgress }
  | { readonly result: ReturnType<typeof runTask> }
  | { readonly error: string };

if (parentPort === null) throw new Error('worker.ts must be started as a worker thread');
const port = parentPort;
const table = workerData as RatingTable;

port.on('message', (task: Task) => {
  const send = (message: FromWorker) => port.postMessage(message);
  try {
    send({ result: runTask(task, table, (progress) => send({ progress })) });
  } catch (error) {
    send({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
