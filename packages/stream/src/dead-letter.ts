/** A record that can never be applied, as it is parked: its bytes, where it lay, and why. */
import { type PoisonRecord, topicName } from '@freshet/events';
import type { LogRecord } from './log-record.ts';
import type { OutRecord } from './publisher.ts';

export function deadLetter(
  model: string,
  partition: number,
  record: LogRecord,
  { reason, message }: PoisonRecord,
): OutRecord {
  return {
    topic: topicName('ratingsDeadLetter', model),
    partition: 0,
    key: record.key,
    value: record.value,
    headers: {
      ...record.headers,
      'freshet-model': model,
      'freshet-topic': topicName('ratings', model),
      'freshet-partition': String(partition),
      'freshet-offset': String(record.offset),
      'freshet-reason': reason,
      'freshet-message': message,
    },
  };
}
