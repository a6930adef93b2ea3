/**
 * What must be done after an error? One function decides, for taking over, applying, loading,
 * publishing and answering alike. Freshet's own errors have their verdict by class, errors of
 * kafkajs by `retriable`; any other error is a bug.
 *
 *   retry   a server is away: retry until it is back
 *   again   what is in memory is not what is stored: take the shard over again
 *   park    this record can never succeed: put it on the dead-letter topic, continue with the next
 *   hold    to continue would lose records: hold this partition until a person decides
 *   stop    a retry cannot mend it: end the process and say why
 */
const verdicts = ['retry', 'again', 'park', 'hold', 'stop'] as const;

type Verdict = (typeof verdicts)[number];

export abstract class Fault extends Error {
  override readonly name: string = this.constructor.name;
  abstract readonly verdict: Verdict;
}

/** A server did not answer, or refused for now. */
export class ServerAway extends Fault {
  readonly verdict = 'retry';
}

/** Kafka's error types for a record that it will never accept. */
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

/** kafkajs exports its classes to CommonJS only, so its errors are recognised by their fields. */
function typeOf(error: Error): string {
  if ('type' in error && typeof error.type === 'string') return error.type;
  return error.cause instanceof Error ? typeOf(error.cause) : '';
}

/** Also true if kafkajs has given up retrying: the cause may pass nevertheless. */
function isPassing(error: Error): boolean {
  if ('retriable' in error && error.retriable === true) return true;
  // Kafka refuses a connection that authenticates twice within a second; the next one may.
  if (typeOf(error) === 'ILLEGAL_SASL_STATE') return true;
  if (
    /^KafkaJS(NumberOfRetriesExceeded|Timeout|LockTimeout|GroupCoordinatorNotFound)$/.test(
      error.name,
    )
  ) {
    return true;
  }
  return error.cause instanceof Error && isPassing(error.cause);
}
