/**
 * Tells Kafka where a reader is in the partitions that have moved, with what their owner remarks on them. One
 * request at a time: no offset may be overtaken by an earlier one.
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
  /** By partition: what Kafka knows, or is being told. A log that is read again may end at the same offset. */
  #told = new Map<number, string>();
  #telling: Promise<void> | undefined;

  constructor(
    readonly topic: string,
    readonly owner: Pick<PartitionOwner, 'remark'>,
    readonly log: Log,
  ) {}

  /** The consumer is given up: another one tells everything anew. */
  forget(): void {
    this.#told = new Map();
    this.#telling = undefined;
  }

  /**
   * What Kafka was told may no longer be what it knows: kafkajs itself commits "from the beginning" when an
   * offset is out of range.
   */
  doubt(partition: number): void {
    this.#told.delete(partition);
  }

  /** Resolves also when Kafka was away: the next one tries again. */
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
      this.log.debug({ err: error }, 'offsets not committed to Kafka; trying again');
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
