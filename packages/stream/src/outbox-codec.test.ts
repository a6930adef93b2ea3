import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeOutbox, encodeOutbox } from './outbox-codec.ts';
import type { OutRecord } from './publisher.ts';

const bytes = fc.uint8Array({ maxLength: 40 }).map((raw) => Buffer.from(raw));
const text = fc.string({ unit: 'binary', maxLength: 20 });

const record: fc.Arbitrary<OutRecord> = fc.record(
  {
    topic: text,
    partition: fc.nat(),
    key: fc.option(fc.oneof(bytes, text)),
    value: fc.option(bytes),
    headers: fc.dictionary(text, text, { noNullPrototype: true }),
  },
  { requiredKeys: ['topic', 'key', 'value'] },
);

/** A key is sent as bytes, whether it was given as text or as bytes. */
const asSent = ({ key, ...rest }: OutRecord) => ({
  ...rest,
  key: typeof key === 'string' ? Buffer.from(key) : key,
});

describe('an outbox', () => {
  it('of nothing is no bytes', () => {
    expect(encodeOutbox([])).toHaveLength(0);
    expect(decodeOutbox(Buffer.alloc(0))).toEqual([]);
  });

  it('comes back as it was: with and without partition and headers, null apart from empty', () => {
    const records: OutRecord[] = [
      { topic: 't', key: null, value: null },
      { topic: 't', key: Buffer.alloc(0), value: Buffer.alloc(0), partition: 0 },
      { topic: 'ü', key: '🎬', value: Buffer.of(0, 255), partition: 3, headers: { why: '☂' } },
    ];
    expect(decodeOutbox(encodeOutbox(records)).map(asSent)).toEqual(records.map(asSent));
  });

  it('comes back as it was, whatever is in it', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 5 }), (records) => {
        const read = decodeOutbox(encodeOutbox(records)).map(asSent);
        expect(read).toEqual(records.map(asSent));
      }),
      { seed: 51, numRuns: 500 },
    );
  });
});
