/**
 * One thread of a pool: takes a task, tells how far it is, answers with the result, takes the next.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { RatingTable } from './rating-table.ts';
import { runTask, type Task, type TaskProgress } from './task.ts';

export type FromWorker =
  | { readonly progress: TaskProgress }
  | { readonly result: ReturnType<typeof runTask> }
  | { readonly error: string };

if (parentPort === null) throw new Error('this file runs as a worker thread');
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
