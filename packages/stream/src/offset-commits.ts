/**
 * Commits the positions of a reader to Kafka, with the metadata that the owner gives for each. Only
 * those that have moved, and one request at a time: a late request must not set an offset back.
 */
import type { Log } from '@freshet/telemetry';
import type { Consumer } from 'kafkajs';
import type { PartitionOwner } from './owned-partition.ts';

type Committing = Pick<Consumer, 'commitOffsets'>;

interface Told {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly metadata?: string;
}

export class OffsetCommits {
  /**
   * By partition: what was last committed, or is in flight. The metadata is part of it: a log that
   * is read again may come to the same offset with other metadata.
   */
  #told = new Map<number, string>();
  #telling: Promise<void> | undefined;

  constructor(
    readonly topic: string,
    readonly owner: Pick<PartitionOwner, 'remark'>,
    readonly log: Log,
  ) {}

  /** The consumer was replaced: the new one commits every position again. */
  forget(): void {
    this.#told = new Map();
    this.#telling = undefined;
  }

  /** If an offset is out of range, kafkajs commits the beginning of the log by itself. */
  doubt(partition: number): void {
    this.#told.delete(partition);
  }

  /** Also resolves if Kafka is away: the next call tries again. */
  commit(consumer: Committing, positions: ReadonlyMap<number, number>): Promise<void> {
    if (this.#telling !== undefined) return this.#telling;
    const telling = this.#tell(consumer, positions).finally(() => {
      if (this.#telling === telling) this.#telling = undefined;
    });
    this.#telling = telling;
    return telling;
  }

  async #tell(consumer: Committing, positions: ReadonlyMap<number, number>): Promise<void> {
    const told = this.#told;
    for (const at of told.keys()) if (!positions.has(at)) told.delete(at);
    const offsets = [...positions]
      .flatMap(([partition, position]) => this.#offsetOf(partition, position))
      .filter((each) => told.get(each.partition) !== textOf(each));
    if (offsets.length === 0) return;
    for (const each of offsets) told.set(each.partition, textOf(each));
    try {
      await consumer.commitOffsets(offsets);
    } catch (error) {
      told.clear();
      this.log.debug({ err: error }, 'offsets were not committed to Kafka: trying again');
    }
  }

  #offsetOf(partition: number, position: number): Told[] {
    const at = { topic: this.topic, partition, offset: String(position) };
    if (this.owner.remark === undefined) return [at];
    const metadata = this.owner.remark(partition, position);
    return metadata === undefined ? [] : [{ ...at, metadata }];
  }
}

function textOf({ offset, metadata = '' }: Told): string {
  return `${offset} ${metadata}`;
}
