/**
 * What does an error mean for whoever meets it? One function decides, for taking over, applying,
 * loading, publishing and answering alike. Our own errors carry their verdict by class; those of
 * Kafka's client carry `retriable`; everything else is a bug.
 *
 *   retry   a server is away: do the same again later, for as long as it takes
 *   again   what is in memory is not what is stored: take over again, then go on
 *   park    this record can never succeed: set it aside and go on with the next
 *   hold    going on would lose records: leave this partition until a person decides
 *   stop    nothing here can mend it: end the process and say why
 */
export const verdicts = ['retry', 'again', 'park', 'hold', 'stop'] as const;

export type Verdict = (typeof verdicts)[number];

/** An error that says itself what must happen next. */
export abstract class Fault extends Error {
  abstract readonly verdict: Verdict;
}

/** A server did not answer, or not as it should: it will again. */
export class ServerAway extends Fault {
  override readonly name: string = 'ServerAway';
  readonly verdict = 'retry';
}

/** What Kafka answers to a record that it will never take, however often it is sent. */
const REFUSED_RECORD = [
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TOPIC_EXCEPTION',
  'INVALID_TIMESTAMP',
];

export function verdict(error: unknown): Verdict {
  if (!(error instanceof Error)) return 'stop';
  if (isOurs(error)) return error.verdict;
  if (!error.name.startsWith('KafkaJS')) return 'stop';
  if (REFUSED_RECORD.includes(typeOf(error))) return 'park';
  return isPassing(error) ? 'retry' : 'stop';
}

function isOurs(error: Error): error is Error & { readonly verdict: Verdict } {
  return 'verdict' in error && verdicts.includes(error.verdict as Verdict);
}

/** kafkajs exports its classes to CommonJS only: its errors are told by their fields. */
function typeOf(error: Error): string {
  if ('type' in error && typeof error.type === 'string') return error.type;
  return error.cause instanceof Error ? typeOf(error.cause) : '';
}

/** Also where the client has given up: what it gave up on may pass all the same. */
function isPassing(error: Error): boolean {
  if ('retriable' in error && error.retriable === true) return true;
  if (
    /^KafkaJS(NumberOfRetriesExceeded|Timeout|LockTimeout|GroupCoordinatorNotFound)$/.test(
      error.name,
    )
  ) {
    return true;
  }
  return error.cause instanceof Error && isPassing(error.cause);
}
