/** The last dead letters of this model for the page: source, reason and the first bytes. */
import { type LogRecord, printable } from '@freshet/stream';
import { type DeadLetter, LETTERS } from './live/frame.ts';

const PREVIEW_BYTES = 80;
const WORD_BYTES = 60;

export class LetterBox {
  /** Oldest first. */
  #letters: DeadLetter[] = [];
  #fresh: DeadLetter[] = [];

  constructor(private readonly model: string) {}

  receive(records: readonly LogRecord[]): void {
    const known = this.#letters.at(-1)?.offset ?? -1;
    const ours = records
      .filter(({ headers, offset }) => headers['freshet-model'] === this.model && offset > known)
      .map(letterOf);
    this.#letters = [...this.#letters, ...ours].slice(-LETTERS);
    this.#fresh = [...this.#fresh, ...ours].slice(-LETTERS);
  }

  all(): readonly DeadLetter[] {
    return this.#letters;
  }

  /** The letters that came since the last call. */
  fresh(): readonly DeadLetter[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }
}

/** Anybody may write to the topic: headers and values are escaped, and cut to a fixed length. */
function letterOf({ offset, timestamp, headers, value }: LogRecord): DeadLetter {
  const word = (name: string) => printable(Buffer.from(headers[name] ?? '?'), WORD_BYTES);
  const place = `${word('freshet-topic')}/${word('freshet-partition')}@${word('freshet-offset')}`;
  return {
    offset,
    at: timestamp,
    reason: word('freshet-reason'),
    source: place,
    bytes: value?.length ?? 0,
    preview: value === null ? '(no value)' : printable(value, PREVIEW_BYTES),
  };
}
