/** Random records for every partition of every topic; the same seed gives the same records. */
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

/** Without zstd, which Node 20 cannot write. */
export const codecs: readonly CodecId[] = [0, 1, 2, 3];

/** Compacted topics: Kafka takes no record without a key. */
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

/** A key that is no user's id, so that a null record forgets nobody. */
const key = fc.oneof(
  bytes.map((each) => Buffer.concat([Buffer.from('fuzz'), each])),
  text.map((each) => `fuzz${each}`),
  fc.constant(''),
);

/** Header names that services read, but none by which a service recognises a record of Freshet. */
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

/** JSON with fields that services read, but never with a user. */
const fields = fc
  .jsonValue()
  .map((any) => JSON.stringify({ user: [any], item: any, n: any, title: any, categories: any }));

/** The bytes without a random part at their end. */
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
