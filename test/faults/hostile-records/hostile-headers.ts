/** Headers that Kafka accepts and no reader expects, each on an otherwise valid record. */
import type { RawRecord } from './raw-producer.ts';

export type Headers = NonNullable<RawRecord['headers']>;

const NOT_UTF8 = Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x00, 0x80]);

export const hostileHeaders: Readonly<Record<string, Headers>> = {
  'a header without a value': [['h', null]],
  'our own headers without values': [
    ['reply-topic', null],
    ['deadline', null],
    ['freshet-source', null],
    ['freshet-model', null],
    ['freshet-format', null],
  ],
  'a name that is repeated, with and without a value': [
    ['h', null],
    ['h', 'one'],
    ['h', Buffer.from('two')],
    ['h', null],
  ],
  'names that every object has': [
    ['__proto__', 'x'],
    ['constructor', 'x'],
    ['toString', null],
    ['hasOwnProperty', ''],
    ['__proto__', 'y'],
  ],
  'a name without a letter': [
    ['', ''],
    ['', null],
  ],
  'names and values that are not UTF-8': [
    [NOT_UTF8, NOT_UTF8],
    ['h', NOT_UTF8],
  ],
  'five thousand headers': Array.from({ length: 5_000 }, (_, at) => [`h${at}`, String(at)]),
  'three megabytes of headers': Array.from({ length: 3 }, (_, at) => [
    `h${at}`,
    Buffer.alloc(1 << 20, 'x'),
  ]),
  'a header that meant something once': [['freshet-source', 'default/-1/abc']],
};
