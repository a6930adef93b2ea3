/** What was parked, why, and from where; and what it becomes when it is sent again. */
import { PoisonRecord, type RatingReader } from '@freshet/events';
import { CUT_HEADER, type LogRecord, type OutRecord, printable } from '@freshet/stream';

export interface DeadLetter {
  /** Offset on the dead-letter topic: how an operator names it. */
  readonly offset: number;
  readonly reason: string;
  readonly message: string;
  readonly topic: string;
  readonly partition: number;
  readonly sourceOffset: number;
  readonly bytes: number;
  /** Which parts of the record were too long to be kept; absent: it is whole. */
  readonly cut: string | undefined;
  /** It was sent again once before, from this offset, and parked anew. */
  readonly replayedFrom: number | undefined;
  readonly preview: string;
  readonly record: LogRecord;
}

export const REPLAYED_HEADER = 'freshet-replayed';
const OWN_HEADERS = 'freshet-';
const PREVIEW_BYTES = 60;
const MESSAGE_BYTES = 200;

/** Undefined for a letter of another model: the topic is shared. */
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
    cut: headers[CUT_HEADER],
    replayedFrom: replayed === undefined ? undefined : Number(replayed),
    preview: value === null ? '(no value)' : printable(value, PREVIEW_BYTES),
    record,
  };
}

export interface Replay {
  readonly record: OutRecord;
  /** Why it would be parked again, if it would. */
  readonly stillBad: string | undefined;
}

interface ReplayTarget {
  /** Of the topic that the letter came from. */
  readonly partitions: number;
  readonly reader: Pick<RatingReader, 'read'>;
  readonly now: number;
}

/**
 * The original key and bytes, on the partition they came from. Our own headers go: they told of the parking.
 */
export function replayOf(letter: DeadLetter, { partitions, reader, now }: ReplayTarget): Replay {
  const { key, value, headers } = letter.record;
  const theirs = Object.entries(headers).filter(([name]) => !name.startsWith(OWN_HEADERS));
  // Anybody may write to the topic, and say anything in a header.
  const isPartition = Number.isInteger(letter.partition) && letter.partition < partitions;
  const partition = isPartition ? Math.max(0, letter.partition) : 0;
  const marked = { ...Object.fromEntries(theirs), [REPLAYED_HEADER]: String(letter.offset) };
  const record = { topic: letter.topic, partition, key, value, headers: marked };
  try {
    reader.read({ key, value, timestamp: now });
    return { record, stillBad: undefined };
  } catch (error) {
    if (!(error instanceof PoisonRecord)) throw error;
    return { record, stillBad: `${error.reason}: ${error.message}` };
  }
}

export interface Sorted {
  readonly replayed: readonly DeadLetter[];
  /** Those that are not, by the reason. */
  readonly left: ReadonlyMap<string, number>;
}

/**
 * Which letters may go back to the topic that they name? Only to topics that ratings come from: anybody may
 * write a letter, and it must not make this command write anywhere else.
 */
export function sortLetters(letters: readonly DeadLetter[], sources: readonly string[]): Sorted {
  const replayed: DeadLetter[] = [];
  const left = new Map<string, number>();
  for (const letter of letters) {
    const reason = whyNot(letter, sources);
    if (reason === undefined) replayed.push(letter);
    else left.set(reason, (left.get(reason) ?? 0) + 1);
  }
  return { replayed, left };
}

function whyNot({ topic, cut }: DeadLetter, sources: readonly string[]): string | undefined {
  if (!sources.includes(topic)) return `of ${topic}, which RATINGS_TOPICS does not name`;
  return cut === undefined ? undefined : 'too long to be parked whole';
}
