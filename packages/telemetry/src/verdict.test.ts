import { describe, expect, it } from 'vitest';
import { Fault, ServerAway, verdict } from './verdict.ts';

class Held extends Fault {
  override readonly name = 'Held';
  readonly verdict = 'hold';
}

/** An error with the fields by which errors of kafkajs are recognised. */
function kafkaError(name: string, fields: object = {}): Error {
  return Object.assign(new Error(name), { name: `KafkaJS${name}`, ...fields });
}

const cases: readonly (readonly [string, unknown, ReturnType<typeof verdict>])[] = [
  ['a server that is away', new ServerAway('Redis'), 'retry'],
  ['an error that says so itself', new Held('cut'), 'hold'],
  ['a lost connection to Kafka', kafkaError('ConnectionError', { retriable: true }), 'retry'],
  ['a client that gave up', kafkaError('NumberOfRetriesExceeded', { retriable: false }), 'retry'],
  [
    'an error around one that passes',
    kafkaError('NonRetriableError', {
      retriable: false,
      cause: kafkaError('Error', { retriable: true }),
    }),
    'retry',
  ],
  [
    'a record that Kafka will never take',
    kafkaError('ProtocolError', { retriable: false, type: 'MESSAGE_TOO_LARGE' }),
    'park',
  ],
  ['a wrong password', kafkaError('SASLAuthenticationError', { retriable: false }), 'stop'],
  [
    'a connection that authenticated again too soon',
    kafkaError('NonRetriableError', {
      retriable: false,
      cause: kafkaError('ProtocolError', { retriable: false, type: 'ILLEGAL_SASL_STATE' }),
    }),
    'retry',
  ],
  ['a bug', new TypeError('x is not a function'), 'stop'],
  ['what is no error at all', 'oops', 'stop'],
];

describe('what an error means', () => {
  it.each(cases)('%s', (_, error, expected) => expect(verdict(error)).toBe(expected));
});
