/**
 * Which records of the ratings log each user shard must have applied: all of them, less what an operator
 * has accepted as lost. It goes back with the store, for an acceptance is stored in it.
 */
import type { LogRecord } from '@freshet/stream';
import type { MemoryLog } from '@freshet/testkit';
import { PARTITIONS, sourceOf } from './simulated-model.ts';

interface Stretch {
  readonly topicId: string;
  readonly from: number;
  readonly to: number;
}

export class Lineage {
  readonly #log: MemoryLog;
  #stretches: (readonly Stretch[])[];

  constructor(log: MemoryLog, stretches?: readonly (readonly Stretch[])[]) {
    this.#log = log;
    this.#stretches = stretches ? [...stretches] : [];
  }

  /** Nothing was applied yet: everything from the log's beginning is to be. */
  static async whole(log: MemoryLog): Promise<Lineage> {
    const topicId = await log.topicId(sourceOf('user'));
    const all = [{ topicId, from: 0, to: Number.POSITIVE_INFINITY }];
    return new Lineage(
      log,
      Array.from({ length: PARTITIONS }, () => all),
    );
  }

  copy(): Lineage {
    return new Lineage(this.#log, this.#stretches);
  }

  /** Up to `applied` it counts; what follows is what the log now holds from `start` on. */
  async accept(partition: number, applied: number | null, start: number): Promise<void> {
    const topicId = await this.#log.topicId(sourceOf('user'));
    const former = applied === null ? [] : (this.#stretches[partition] ?? []);
    const ended = former.map((each, at) =>
      at === former.length - 1 ? { ...each, to: applied ?? 0 } : each,
    );
    const to = Number.POSITIVE_INFINITY;
    this.#stretches[partition] = [...ended, { topicId, from: start, to }];
  }

  records(partition: number): LogRecord[] {
    return (this.#stretches[partition] ?? []).flatMap(({ topicId, from, to }) =>
      this.#log.recordsOf(topicId, partition).filter(({ offset }) => offset >= from && offset < to),
    );
  }
}
