/**
 * Records that Freshet's services send each other. Nobody else should write to those topics, but somebody
 * may: what does not decode is counted, told once and passed over. What a newer Freshet wrote is another
 * matter: to pass over that would lose it, so whoever meets it stops and says that it must be updated.
 */
import { Fault, type Log, metrics } from '@freshet/telemetry';
import type { LogRecord } from './log-record.ts';
import type { OutRecord } from './publisher.ts';

/** Changes with the meaning of what internal topics carry. */
const FORMAT = 6;
const FORMAT_HEADER = 'freshet-format';
const headers = { [FORMAT_HEADER]: String(FORMAT) };

export class NewerFormat extends Fault {
  override readonly name = 'NewerFormat';
  readonly verdict = 'stop';
}

/** A record of ours, marked with the format it is written in. */
export function internalRecord(record: Omit<OutRecord, 'headers'>): OutRecord {
  return { ...record, headers };
}

export interface InternalTopic<T> {
  readonly topic: string;
  readonly log: Pick<Log, 'warn'>;
  /** Throws where the bytes are not an event of this topic. */
  decode(value: Buffer, partition: number): T;
}

/** Reads the events of one internal topic. */
export class InternalEvents<T> {
  readonly #options: InternalTopic<T>;
  /** The last offset told of in each partition: what is read again is not told again. */
  readonly #told = new Map<number, number>();

  constructor(options: InternalTopic<T>) {
    this.#options = options;
    metrics.passedOver.inc({ topic: options.topic }, 0);
  }

  /** undefined where a record holds no event: it is empty, or was passed over. */
  read(partition: number, { value, offset, headers: given }: LogRecord): T | undefined {
    const { topic, decode } = this.#options;
    const format = Number(given[FORMAT_HEADER] ?? FORMAT);
    if (format > FORMAT) {
      throw new NewerFormat(
        `${topic}/${partition}@${offset} was written by a newer Freshet (format ${format}, this one reads ${FORMAT}): update this service`,
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
    const told = { topic, partition, offset, reason };
    log.warn(
      told,
      'a record that is not one of Freshet’s was passed over: who else writes to this topic?',
    );
  }
}
