/**
 * Records that Freshet's services send each other. Nobody else should write to those topics, but
 * somebody may: a record that does not decode is counted, logged once and skipped. A record that a
 * newer Freshet wrote must not be skipped, since it would be lost: the service that meets it stops
 * and says that it must be updated.
 */
import { Fault, type Log, metrics } from '@freshet/telemetry';
import type { LogRecord } from './log-record.ts';
import type { OutRecord } from './publisher.ts';

/** Increases when records of internal topics change their meaning. */
const FORMAT = 6;
const FORMAT_HEADER = 'freshet-format';
const headers = { [FORMAT_HEADER]: String(FORMAT) };

export class NewerFormat extends Fault {
  override readonly name = 'NewerFormat';
  readonly verdict = 'stop';
}

/** A record with the format that it is written in as a header. */
export function internalRecord(record: Omit<OutRecord, 'headers'>): OutRecord {
  return { ...record, headers };
}

export interface InternalTopic<T> {
  readonly topic: string;
  readonly log: Pick<Log, 'warn'>;
  /** Throws if the bytes are not an event of this topic. */
  decode(value: Buffer, partition: number): T;
}

export class InternalEvents<T> {
  readonly #options: InternalTopic<T>;
  /** By partition: the last offset that was logged, so that none is logged again. */
  readonly #told = new Map<number, number>();

  constructor(options: InternalTopic<T>) {
    this.#options = options;
    metrics.passedOver.inc({ topic: options.topic }, 0);
  }

  /** undefined if the record holds no event: it has no value, or it was skipped. */
  read(partition: number, { value, offset, headers: given }: LogRecord): T | undefined {
    const { topic, decode } = this.#options;
    const format = Number(given[FORMAT_HEADER] ?? FORMAT);
    if (format > FORMAT) {
      throw new NewerFormat(
        `${topic}/${partition}@${offset} was written by a newer Freshet ` +
          `(format ${format}, this one reads ${FORMAT}): update this service`,
      );
    }
    if (value === null) return undefined;
    try {
      return decode(value, partition);
    } catch (error) {
      this.#passOver(partition, offset, error);
      return undefined;
    }
  }

  #passOver(partition: number, offset: number, error: unknown): void {
    const { topic, log } = this.#options;
    if (offset <= (this.#told.get(partition) ?? -1)) return;
    this.#told.set(partition, offset);
    metrics.passedOver.inc({ topic });
    const reason = error instanceof Error ? error.message : String(error);
    log.warn(
      { topic, partition, offset, reason },
      'a record that Freshet did not write was skipped: find out who else writes to this topic',
    );
  }
}
