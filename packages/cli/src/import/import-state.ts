/**
 * How far has the import of this very file come? A small file in the cache folder, one per file and
 * topic, written after every acknowledged chunk, so that an import that was cut short goes on.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

export interface ImportState {
  readonly file: string;
  /** Names this import in the headers of what it sends. */
  readonly id: string;
  /** Of the topic when the import began: what is sent again must go where it went before. */
  readonly partitions: number;
  /** Chunks acknowledged in full. */
  readonly chunks: number;
  /** Ratings in them. */
  readonly ratings: number;
  /** Ends of the topic's partitions when the last chunk had been acknowledged. */
  readonly ends: readonly (readonly [partition: number, end: number])[];
  readonly done: boolean;
}

export interface Target {
  readonly brokers: readonly string[];
  readonly topic: string;
  /** What decides how the file is cut into chunks. */
  readonly reading: string;
}

export class ImportStateFile {
  readonly path: string;

  private constructor(
    path: string,
    readonly file: string,
  ) {
    this.path = path;
  }

  /** The same bytes at the same place, for the same topic: a changed file is another import. */
  static of(file: string, target: Target, folder: string): ImportStateFile {
    const real = realpathSync(file);
    const { size, mtimeMs } = statSync(real);
    const identity = [real, size, mtimeMs, target.topic, target.reading, ...target.brokers];
    const name = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 24);
    return new ImportStateFile(join(folder, 'imports', `${name}.json`), real);
  }

  read(): ImportState | undefined {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    return JSON.parse(text);
  }

  fresh(partitions: number): ImportState {
    const id = randomUUID().slice(0, 8);
    return { file: this.file, id, partitions, chunks: 0, ratings: 0, ends: [], done: false };
  }

  /** Whole or not at all: a kill leaves the last state, never half of one. */
  write(state: ImportState): void {
    mkdirSync(join(this.path, '..'), { recursive: true });
    const partial = `${this.path}.partial`;
    writeFileSync(partial, JSON.stringify(state));
    renameSync(partial, this.path);
  }
}

/** The topic holds less than it did: it is another one, and nothing of the import is in it. */
export function isRecreated(state: ImportState, ends: ReadonlyMap<number, number>): boolean {
  return state.ends.some(([partition, end]) => (ends.get(partition) ?? 0) < end);
}
