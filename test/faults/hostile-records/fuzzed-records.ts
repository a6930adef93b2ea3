/** Records as chance makes them, on every partition of every topic. The seed repeats them. */
import { encodeRating, type Topic, topicName, topics } from '@freshet/events';
import fc from 'fast-check';
import { MODEL } from './honest-ratings.ts';
import type { RealRecords } from './internal-events.ts';
import type { CodecId, RawRecord } from './raw-producer.ts';
import { everyPartition } from './transaction-kinds.ts';

interface Fuzzed {
  readonly record: RawRecord;
  readonly codec: CodecId;
}

/** Without zstd, which not every Node that Freshet runs on can write. */
export const codecs: readonly CodecId[] = [0, 1, 2, 3];

/** Kafka takes no record without a key there. */
const compacted = new Set(
  (Object.keys(topics) as Topic[])
    .filter((topic) => topics[topic].retain === 'latest')
    .map((topic) => topicName(topic, MODEL)),
);

const bytes = fc.uint8Array({ maxLength: 2_000 }).map((array) => Buffer.from(array));
const large = fc
  .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 10_000, max: 1_500_000 }))
  .map(([byte, length]) => Buffer.alloc(length, byte));
const text = fc.string({ unit: 'binary', maxLength: 300 });
const none = fc.constant(null);

/** Nobody's key: a null record beside it forgets somebody who is not there. */
const key = fc.oneof(
  bytes.map((each) => Buffer.concat([Buffer.from('fuzz'), each])),
  text.map((each) => `fuzz${each}`),
  fc.constant(''),
);

/**
 * Names that somebody looks for, but none that says which Freshet wrote a record, or that one did.
 */
const headerName = fc.oneof(
  fc.constantFrom('correlation-id', 'reply-topic', 'deadline', 'freshet-push', 'freshet-model'),
  fc.constantFrom('', '__proto__', 'constructor', 'h'),
  text,
  bytes,
);
const headerValue = fc.oneof(
  none,
  bytes,
  text,
  fc.constantFrom('default.grams', 'recommendations', 'default', 'ratings', '0', '1e999'),
);
const headers = fc.array(fc.tuple(headerName, headerValue), { maxLength: 8 });

/** Has the fields that somebody looks for, but never a user. */
const fields = fc
  .jsonValue()
  .map((any) => JSON.stringify({ user: [any], item: any, n: any, title: any, categories: any }));

/** Cut somewhere before its end. */
function cut(whole: readonly Buffer[]): fc.Arbitrary<Buffer> {
  return fc
    .tuple(fc.constantFrom(...whole), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }))
    .map(([event, share]) => event.subarray(0, Math.floor(share * event.length)));
}

export function fuzzedRecords(real: RealRecords, seed: number, count: number): Fuzzed[] {
  const events = [...real.values()].filter(({ length }) => length > 0);
  const rating = encodeRating({ user: 'fuzz', item: 'i1', value: 3, time: null });
  const value = fc.oneof(
    { arbitrary: none, weight: 5 },
    { arbitrary: bytes, weight: 5 },
    { arbitrary: large, weight: 1 },
    { arbitrary: text, weight: 5 },
    { arbitrary: fc.json(), weight: 5 },
    { arbitrary: cut([rating, ...events]), weight: 5 },
    { arbitrary: fields, weight: 5 },
  );
  const record = fc.constantFrom(...everyPartition).chain((place) =>
    fc.record({
      topic: fc.constant(place.topic),
      partition: fc.constant(place.partition),
      key: compacted.has(place.topic) ? key : fc.oneof(none, key),
      value,
      headers,
      timestamp: fc.constantFrom(0n, -1n, BigInt(Date.now())),
    }),
  );
  const codec = fc.constantFrom(...codecs);
  return fc.sample(fc.record({ record, codec }), { seed, numRuns: count });
}
