/**
 * The log is not what it was: going on would lose records without a word. The partition is held, and
 * everything else goes on, until a person restores the log or accepts the loss (`freshet sources`).
 *
 *   cut         records that were not yet applied have been deleted
 *   recreated   the topic was deleted and created anew: its offsets mean other records
 *   store-lost  the store lost what it had learnt, and the log no longer begins at its beginning
 *   unreadable  a batch cannot be decoded: its codec is unknown, or its bytes are corrupt
 *   claims      the claims topic was recreated: writers can no longer be told apart
 */
import { Fault } from '@freshet/telemetry';

const logFaults = ['cut', 'recreated', 'store-lost', 'unreadable', 'claims'] as const;

export type LogFaultKind = (typeof logFaults)[number];

export interface LogPlace {
  readonly topic: string;
  readonly partition: number;
}

const WHAT_TO_DO =
  'This partition waits and the others go on. Restore the topic, or accept the loss: freshet sources --accept';

export class LogFault extends Fault {
  override readonly name = 'LogFault';
  readonly verdict = 'hold';

  constructor(
    readonly kind: LogFaultKind,
    readonly place: LogPlace,
    what: string,
    /** Of the batch that cannot be read. */
    readonly offset?: number,
  ) {
    super(`${place.topic}/${place.partition}: ${what}. ${WHAT_TO_DO}`);
  }
}
