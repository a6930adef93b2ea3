/**
 * Records that Freshet's services send each other. Nobody else should write to those topics, but
 * somebody may: a record that does not decode is counted, logged once and skipped. To skip a record
 * of a newer Freshet would lose it: the service stops and says that it must be updated.
 */
import { traceparentOf } from '@freshet/events';
import { Fault, type Log, metrics } from '@freshet/telemetry';
import { type LogRecord, textHeader } from './log-record.ts';
import type { OutRecord } from './publisher.ts';

/** Increases when records of internal topics change their meaning, together with STORE_FORMAT. */
const FORMAT = 6;
const FORMAT_HEADER = 'freshet-format';
const headers = { [FORMAT_HEADER]: String(FORMAT) };

class NewerFormat extends Fault {
  readonly verdict = 'stop';
}

/**
 * The traceparents of the ratings in a record, by the place of each rating (user-ratings), or of
 * the users that it moved, by the place of each user (user-factors). They travel as a header: a
 * record without traces has no byte more, and a service that does not know the header ignores it.
 */
type Traces = ReadonlyMap<number, string>;

const TRACES_HEADER = 'freshet-traces';
/** Of one record: 60 KB. */
const TRACES_LIMIT = 1_000;
const NO_TRACES: Traces = new Map();

/** A record with the format that it is written in as a header. */
export function internalRecord(
  record: Omit<OutRecord, 'headers'>,
  traces: Traces = NO_TRACES,
): OutRecord {
  if (traces.size === 0) return { ...record, headers };
  const parts = [...traces].slice(0, TRACES_LIMIT).map(([place, trace]) => `${place}=${trace}`);
  return { ...record, headers: { ...headers, [TRACES_HEADER]: parts.join(',') } };
}

export function tracesIn({ headers: given }: Pick<LogRecord, 'headers'>): Traces {
  const text = textHeader(given, TRACES_HEADER);
  if (text === undefined) return NO_TRACES;
  const traces = new Map<number, string>();
  for (const part of text.split(',')) {
    const [place, given] = part.split('=');
    const trace = traceparentOf(given);
    if (trace !== undefined) traces.set(Number(place), trace);
  }
  return traces;
}

interface InternalTopic<T> {
  readonly topic: string;
  readonly log: Pick<Log, 'warn'>;
  /** Throws if the bytes are not an event of this topic. */
  decode(value: Buffer, partition: number): T;
}

export class InternalEvents<T> {
  /** By partition: the last offset that was logged, so that none is logged again. */
  readonly #told = new Map<number, number>();

  constructor(private readonly options: InternalTopic<T>) {
    metrics.passedOver.inc({ topic: options.topic }, 0);
  }

  /** undefined if the record holds no event: it has no value, or it was skipped. */
  read(partition: number, { value, offset, headers: given }: LogRecord): T | undefined {
    const { topic, decode } = this.options;
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
    const { topic, log } = this.options;
    if (offset <= (this.#told.get(partition) ?? -1)) return;
    this.#told.set(partition, offset);
    metrics.passedOver.inc({ topic });
    const reason = error instanceof Error ? error.message : String(error);
    const what = 'a record that Freshet did not write was skipped: find out who else writes to it';
    log.warn({ topic, partition, offset, reason }, what);
  }
}
