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
