/** What intake would make of a record, as one line, and counted. */
import {
  asPoison,
  type PoisonRecord,
  type RatingEvent,
  type RatingReader,
  type RawRating,
  shownText,
} from '@freshet/events';

export interface TriedRecord {
  /** TOPIC/PARTITION@OFFSET or FILE:LINE. */
  readonly place: string;
  /** The rating that it holds, or why it would be parked. */
  readonly outcome: RatingEvent | PoisonRecord;
}

export function tryRecord(reader: RatingReader, place: string, record: RawRating): TriedRecord {
  try {
    return { place, outcome: reader.read(record) };
  } catch (error) {
    return { place, outcome: asPoison(error) };
  }
}

export function lineOf({ place, outcome }: TriedRecord): string {
  if (isParked(outcome)) return `${place}  parked: ${outcome.reason}: ${outcome.message}`;
  const user = `${place}  user ${shownText(outcome.user)}`;
  if (outcome.kind === 'forget') return `${user}  forget`;
  const value = outcome.kind === 'rate' ? `value ${outcome.value}` : 'un-rate';
  const time = new Date(outcome.time).toISOString();
  return `${user}  item ${shownText(outcome.item)}  ${value}  time ${time}`;
}

export function jsonOf({ place, outcome }: TriedRecord): string {
  if (!isParked(outcome)) return JSON.stringify({ place, ...outcome });
  const { reason, message } = outcome;
  return JSON.stringify({ place, kind: 'parked', reason, detail: message });
}

export class TriedTally {
  #counted = 0;
  #parked = 0;
  readonly #byKind = new Map<string, number>();
  readonly #byReason = new Map<string, number>();

  add({ outcome }: TriedRecord): void {
    if (isParked(outcome)) {
      this.#parked++;
      increment(this.#byReason, outcome.reason);
    } else {
      this.#counted++;
      increment(this.#byKind, outcome.kind);
    }
  }

  get parked(): number {
    return this.#parked;
  }

  summary(): string {
    const all = this.#counted + this.#parked;
    if (all === 0) return 'no records';
    const counted = `${this.#counted} of ${all} records would count`;
    const kinds = this.#counted === 0 ? '' : `: ${listed(this.#byKind)}`;
    const parked = `${this.#parked} would be parked: ${listed(this.#byReason)}`;
    return this.#parked === 0 ? `${counted}${kinds}` : `${counted}${kinds}\n${parked}`;
  }

  json(): string {
    return JSON.stringify({
      records: this.#counted + this.#parked,
      counted: this.#counted,
      parked: this.#parked,
      kinds: Object.fromEntries(this.#byKind),
      reasons: Object.fromEntries(this.#byReason),
    });
  }
}

function isParked(outcome: RatingEvent | PoisonRecord): outcome is PoisonRecord {
  return outcome instanceof Error;
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
}
