/** The record can never succeed: park it, count it, go on. `reason` is one of a closed set. */
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

/** Whatever a decoder throws: it looks at nothing but the record, so the record is what is wrong. */
export function asPoison(error: unknown): PoisonRecord {
  if (error instanceof PoisonRecord) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new PoisonRecord('unreadable', `it cannot be decoded: ${message}`, error);
}
