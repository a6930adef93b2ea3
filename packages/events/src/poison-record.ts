/** A record that can never be applied: it is parked with one of these reasons and counted. */
export const poisonReasons = [
  'empty',
  'too-large',
  'not-json',
  'not-avro',
  'unknown-schema',
  'bad-id',
  'bad-value',
  'bad-time',
  'bad-kind',
  'unreadable',
] as const;

export type PoisonReason = (typeof poisonReasons)[number];

export class PoisonRecord extends Error {
  override readonly name = 'PoisonRecord';
  constructor(
    readonly reason: PoisonReason,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** Any error of a decoder: a decoder looks at nothing but the record, so the record is at fault. */
export function asPoison(error: unknown): PoisonRecord {
  if (error instanceof PoisonRecord) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new PoisonRecord('unreadable', `it cannot be decoded: ${message}`, error);
}

const SHOWN_CHARACTERS = 60;

/** Text of a record for a message: quoted, cut, and without characters that control a terminal. */
export function shownText(text: string): string {
  const cut = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text;
  return JSON.stringify(cut).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, escaped);
}

export function shownValue(value: unknown): string {
  if (typeof value === 'string') return shownText(value);
  if (value === undefined) return 'nothing';
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Uint8Array) return 'bytes';
  return Array.isArray(value) ? 'a list' : 'an object';
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
