/**
 * How far has the import of this file come? A small file in the cache folder, one per imported file
 * and topic, is written after every acknowledged chunk, so that an interrupted import can continue.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface ImportState {
  readonly file: string;
  /** Names this import in the headers of what it sends. */
  readonly id: string;
  /** Of the topic at the beginning: a chunk that is sent again must go to the same partitions. */
  readonly partitions: number;
  /** Chunks acknowledged in full. */
  readonly chunks: number;
  readonly ratings: number;
  /** Ends of the topic's partitions when the last chunk had been acknowledged. */
  readonly ends: readonly (readonly [partition: number, end: number])[];
  readonly done: boolean;
  /** Tells the topic from one that had its name before; absent in files of version 0.1.0. */
  readonly topicId?: string | undefined;
}

interface Target {
  readonly brokers: readonly string[];
  readonly topic: string;
  /** The options that decide how the file is cut into chunks. */
  readonly reading: string;
}

export class ImportStateFile {
  private constructor(
    readonly path: string,
    readonly file: string,
  ) {}

  /** By path, size and time of the file and by the topic: a changed file is another import. */
  static of(file: string, target: Target, folder: string): ImportStateFile {
    const real = realpathSync(file);
    const { size, mtimeMs } = statSync(real);
    const identity = [real, size, mtimeMs, target.topic, target.reading, ...target.brokers];
    const name = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 24);
    return new ImportStateFile(join(folder, 'imports', `${name}.json`), real);
  }

  read(): ImportState | undefined {
    return existsSync(this.path) ? JSON.parse(readFileSync(this.path, 'utf8')) : undefined;
  }

  /** Whether the folder has the state of another import. */
  get hasOthers(): boolean {
    const folder = dirname(this.path);
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names.some((name) => name.endsWith('.json') && name !== basename(this.path));
  }

  fresh({ partitions, topicId }: Pick<ImportState, 'partitions' | 'topicId'>): ImportState {
    const id = randomUUID().slice(0, 8);
    const nothing = { chunks: 0, ratings: 0, ends: [], done: false };
    return { file: this.file, id, partitions, topicId, ...nothing };
  }

  /** Replaces the file in one step: a killed process leaves the state before, never half of one. */
  write(state: ImportState): void {
    mkdirSync(dirname(this.path), { recursive: true });
    const partial = `${this.path}.partial`;
    writeFileSync(partial, JSON.stringify(state));
    renameSync(partial, this.path);
  }
}

/** Whether the topic was created anew since: it has another id, or ends earlier. */
export function isRecreated(
  state: ImportState,
  ends: ReadonlyMap<number, number>,
  topicId?: string,
): boolean {
  if (state.topicId !== undefined && state.topicId !== topicId) return true;
  return state.ends.some(([partition, end]) => (ends.get(partition) ?? 0) < end);
}
