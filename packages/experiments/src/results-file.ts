/**
 * Lets a run of thousands of factorizations be stopped and started again. Every finished task
 * becomes a line of a file, by task and data; tasks with a line are not run again.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { RatingTable } from './rating-table.ts';
import type { ResultOf, Task } from './task.ts';

interface ResultLine {
  readonly key: string;
  readonly task: Task;
  readonly result: ResultOf<Task>;
}

export class ResultsFile {
  readonly #path: string;
  readonly #data: string;
  readonly #results = new Map<string, ResultOf<Task>>();
  #needsNewline = false;

  constructor(path: string, table: RatingTable) {
    this.#path = path;
    this.#data = fingerprintOf(table);
    if (!existsSync(path)) return;
    const lines = readFileSync(path, 'utf8').split('\n');
    const last = lines.length - 1;
    this.#needsNewline = lines[last] !== '';
    for (const [index, line] of lines.entries()) {
      if (line === '') continue;
      const parsed = parseLine(line);
      if (parsed) this.#results.set(parsed.key, parsed.result);
      // A process that is killed while it writes leaves part of a line, below which the next start
      // goes on. A line that does not even begin like a result means another file.
      else if (index < last && !line.startsWith('{"key"')) {
        throw new Error(
          `${path}, line ${index + 1} is not a result: name the file of an earlier run or a new one`,
        );
      }
    }
  }

  find<T extends Task>(task: T): ResultOf<T> | undefined {
    return this.#results.get(this.#keyOf(task)) as ResultOf<T> | undefined;
  }

  add<T extends Task>(task: T, result: ResultOf<T>): void {
    const key = this.#keyOf(task);
    this.#results.set(key, result);
    const line = `${JSON.stringify({ key, task, result })}\n`;
    appendFileSync(this.#path, this.#needsNewline ? `\n${line}` : line);
    this.#needsNewline = false;
  }

  #keyOf(task: Task): string {
    const named = `${this.#data} ${JSON.stringify(task)}`;
    return createHash('sha256').update(named).digest('hex').slice(0, 20);
  }
}

function parseLine(text: string): ResultLine | undefined {
  try {
    const line = JSON.parse(text) as ResultLine;
    return typeof line.key === 'string' && typeof line.result === 'object' ? line : undefined;
  } catch {
    return undefined;
  }
}

/** Files with the same ratings are the same data, whatever their names. */
function fingerprintOf(table: RatingTable): string {
  const hash = createHash('sha256');
  for (const column of [table.user, table.item, table.value, table.time]) {
    hash.update(new Uint8Array(column.buffer, column.byteOffset, column.byteLength));
  }
  return hash.digest('hex').slice(0, 16);
}
