/** A parked record: why it was parked, where it came from, and how it is sent again. */
import { PoisonRecord, type RatingReader, type RegisteredSchema } from '@freshet/events';
import { CUT_HEADER, type LogRecord, printable, textHeader } from '@freshet/stream';
import { NamedCounts } from '../named-counts.ts';

export interface DeadLetter {
  /** Its offset on the dead-letter topic. */
  readonly offset: number;
  readonly reason: string;
  readonly message: string;
  readonly topic: string;
  readonly partition: number;
  readonly sourceOffset: number;
  readonly bytes: number;
  /** Which parts of the record were too long to be kept; undefined if it is whole. */
  readonly cut: string | undefined;
  /** The offset of the dead letter that it was replayed from before it was parked again. */
  readonly replayedFrom: number | undefined;
  readonly preview: string;
  readonly record: LogRecord;
}

const REPLAYED_HEADER = 'freshet-replayed';
const OWN_HEADERS = 'freshet-';
const PREVIEW_BYTES = 60;
const MESSAGE_BYTES = 200;

/** Undefined for a letter of another model: all models share the topic. */
export function deadLetterOf(record: LogRecord, model: string): DeadLetter | undefined {
  const { headers, offset, value } = record;
  if (headers['freshet-model'] !== model) return undefined;
  const replayed = headers[REPLAYED_HEADER];
  return {
    offset,
    reason: printable(Buffer.from(headers['freshet-reason'] ?? 'unknown'), MESSAGE_BYTES),
    message: printable(Buffer.from(headers['freshet-message'] ?? ''), MESSAGE_BYTES),
    topic: printable(Buffer.from(headers['freshet-topic'] ?? ''), MESSAGE_BYTES),
    partition: Number(headers['freshet-partition']),
    sourceOffset: Number(headers['freshet-offset']),
    bytes: Number(headers['freshet-bytes'] ?? value?.length ?? 0),
    cut: textHeader(headers, CUT_HEADER),
    replayedFrom: replayed === undefined ? undefined : Number(replayed),
    preview: value === null ? '(no value)' : printable(value, PREVIEW_BYTES),
    record,
  };
}

interface ReplayTarget {
  /** Of the topic that the letter came from. */
  readonly partitions: number;
  readonly reader: Pick<RatingReader, 'read'>;
  /** What the registry says of the schema ids of all letters; undefined without a registry. */
  readonly schemas?: ReadonlyMap<number, RegisteredSchema> | undefined;
  readonly now: number;
}

/** The original record without the headers of parking, and why it would be parked again, if so. */
export function replayOf(letter: DeadLetter, target: ReplayTarget) {
  const { partitions, reader, schemas, now } = target;
  const { key, value, headers } = letter.record;
  const theirs = Object.entries(headers).filter(([name]) => !name.startsWith(OWN_HEADERS));
  // Anybody may write to the topic, so a header may hold anything.
  const isPartition = Number.isInteger(letter.partition) && letter.partition < partitions;
  const partition = isPartition ? Math.max(0, letter.partition) : 0;
  const marked = { ...Object.fromEntries(theirs), [REPLAYED_HEADER]: String(letter.offset) };
  const record = { topic: letter.topic, partition, key, value, headers: marked };
  try {
    reader.read({ key, value, timestamp: now }, schemas);
    return { record, stillBad: undefined };
  } catch (error) {
    if (!(error instanceof PoisonRecord)) throw error;
    return { record, stillBad: `${error.reason}: ${error.message}` };
  }
}

/**
 * Which letters may be sent to the topic that they name? Only those of RATINGS_TOPICS. Anybody may
 * write a letter, and it must not make this command write to another topic.
 */
export function sortLetters(letters: readonly DeadLetter[], sources: readonly string[]) {
  const replayed: DeadLetter[] = [];
  const left = new NamedCounts();
  for (const letter of letters) {
    const { topic, cut } = letter;
    if (!sources.includes(topic)) left.add(`of ${topic}, which RATINGS_TOPICS does not name`);
    else if (cut !== undefined) left.add('too long to be parked whole');
    else replayed.push(letter);
  }
  return { replayed, left };
}
