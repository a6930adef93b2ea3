/** What intake would make of a record, as one line, and counted. */
import {
  asPoison,
  type PoisonRecord,
  type RatingEvent,
  type RatingReader,
  type RawRating,
  type RegisteredSchema,
  shownText,
} from '@freshet/events';
import { NamedCounts } from '../named-counts.ts';

export interface TriedRecord {
  /** TOPIC/PARTITION@OFFSET or FILE:LINE. */
  readonly place: string;
  readonly outcome: RatingEvent | PoisonRecord;
}

/** `schemas`: what the registry says of the schema ids of the records, if there is one. */
export function tryRecord(
  reader: RatingReader,
  place: string,
  record: RawRating,
  schemas?: ReadonlyMap<number, RegisteredSchema>,
): TriedRecord {
  try {
    return { place, outcome: reader.read(record, schemas) };
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
  readonly #kinds = new NamedCounts();
  readonly #reasons = new NamedCounts();

  add({ outcome }: TriedRecord): void {
    if (isParked(outcome)) this.#reasons.add(outcome.reason);
    else this.#kinds.add(outcome.kind);
  }

  get parked(): number {
    return this.#reasons.total;
  }

  summary(): string {
    const [counted, parked] = [this.#kinds.total, this.parked];
    if (counted + parked === 0) return 'no records';
    const kinds = counted === 0 ? '' : `: ${this.#kinds.listed()}`;
    const told = `${counted} of ${counted + parked} records would count${kinds}`;
    return parked === 0 ? told : `${told}\n${parked} would be parked: ${this.#reasons.listed()}`;
  }

  json(): string {
    const [counted, parked] = [this.#kinds.total, this.parked];
    const kinds = Object.fromEntries(this.#kinds);
    const reasons = Object.fromEntries(this.#reasons);
    return JSON.stringify({ records: counted + parked, counted, parked, kinds, reasons });
  }
}

function isParked(outcome: RatingEvent | PoisonRecord): outcome is PoisonRecord {
  return outcome instanceof Error;
}
