/** Hostile records on the ratings topic: each is parked with its reason, or counts. */
import { createHash } from 'node:crypto';
import { encodeRating } from '@freshet/events';
import { expect } from 'vitest';
import { hostileHeaders } from './hostile-headers.ts';
import { Refused } from './raw-producer.ts';
import type { Kind } from './stage.ts';

/** Message too large. */
const TOO_LARGE = 10;
/** With its batch around it exactly what the topics allow, 4 MB. */
export const LARGEST_VALUE = 4_194_230;

const headerKinds: Kind[] = Object.entries(hostileHeaders).map(([name, headers], at) => ({
  name: `a rating with ${name} counts, junk with it is parked`,
  play: async (stage) => {
    const { honest } = stage;
    const rated = { user: `header-${at}`, item: 'i1', value: 4 };
    const [, , junk] = await stage.send([
      { ...honest.record(rated), headers },
      { ...honest.record({ ...rated, item: 'i2' }, 1), headers },
      { topic: 'ratings', partition: at % 4, key: 'junk', value: 'junk', headers },
    ]);
    const { headers: said } = await stage.letterOf(junk);
    expect(said['freshet-reason']).toBe('not-json');
  },
}));

const largest: Kind = {
  name: 'junk of the largest size that Kafka takes is parked, cut, with its size and hash',
  play: async (stage) => {
    const value = Buffer.alloc(LARGEST_VALUE, 'junk');
    const [place] = await stage.send([{ topic: 'ratings', partition: 2, value }]);
    const letter = await stage.letterOf(place);
    expect(letter.headers).toMatchObject({
      'freshet-reason': 'too-large',
      'freshet-bytes': String(LARGEST_VALUE),
      'freshet-cut': 'value',
      'freshet-sha256': createHash('sha256').update(value).digest('hex'),
    });
    expect(letter.bytes).toBeGreaterThan(0);
    const more = Buffer.alloc(LARGEST_VALUE + 1);
    const refused = stage.send([{ topic: 'ratings', partition: 2, value: more }]);
    await expect(refused).rejects.toMatchObject({ name: Refused.name, code: TOO_LARGE });
  },
};

const hugeKey: Kind = {
  name: 'a key of 3 MB: the rating beside it counts, on any partition, a null is parked',
  play: async (stage) => {
    const key = Buffer.alloc(3 << 20, 'k');
    const rated = { user: 'huge-key', item: 'i3', value: 2 };
    await stage.send([{ ...stage.honest.record(rated), key }]);
    await stage.send([{ ...stage.honest.record({ ...rated, item: 'i4' }, 2), key }]);
    const [place] = await stage.send([{ topic: 'ratings', partition: 1, key, value: null }]);
    const letter = await stage.letterOf(place);
    expect(letter.headers).toMatchObject({ 'freshet-reason': 'bad-id', 'freshet-cut': 'key' });
    expect(letter.key.length).toBeLessThan(key.length);
  },
};

const largeHeaders: Kind = {
  name: 'ratings with 30 KB of headers each, 9 MB in one small batch, count',
  play: async (stage) => {
    const headers = [['h', Buffer.alloc(30_000, 'x')]] as const;
    const rated = Array.from({ length: 300 }, (_, at) => ({
      user: 'has-large-headers',
      item: `i${at % 120}`,
      value: 1 + (at % 5),
    }));
    await stage.send(
      rated.map((each) => ({ ...stage.honest.record(each, 1), headers })),
      1,
    );
  },
};

// A bug that this test found: the size limit counted values alone, so each of these records was
// parked without its bytes.
const manyLetters: Kind = {
  name: 'junk with large keys and headers, too much for one request, is parked with its bytes',
  play: async (stage) => {
    const headers = [['h', Buffer.alloc(30_000, 'x')]] as const;
    const key = Buffer.alloc(16_000, 'k');
    const junk = Array.from({ length: 200 }, (_, at) => ({ key, headers, value: `junk-${at}` }));
    const places = await stage.send(
      junk.map((each) => ({ topic: 'ratings', partition: 3, ...each })),
      1,
    );
    const letter = await stage.letterOf(places[199]);
    expect(letter.value).toBe('junk-199');
  },
};

const bomb: Kind = {
  name: 'a small batch that grows to 24 MB of junk is parked',
  play: async (stage) => {
    const value = Buffer.alloc(600_000);
    const junk = { topic: 'ratings', partition: 0, value };
    const places = await stage.send(
      Array.from({ length: 40 }, () => ({ ...junk })),
      1,
    );
    const letter = await stage.letterOf(places[39]);
    expect(letter.headers).toMatchObject({ 'freshet-bytes': '600000', 'freshet-cut': 'value' });
  },
};

/** Content that is no rating, by the reason it is parked for. */
const contents: Readonly<Record<string, readonly (Buffer | string)[]>> = {
  empty: [''],
  'not-json': ['{', 'null', '[]', '7', '['.repeat(16_000), Buffer.from([0x80, 0x81])],
  'bad-id': [
    '{}',
    '{"user":7.5,"item":"i"}',
    '{"user":true,"item":"i"}',
    '{"__proto__":{"user":"u1"},"item":"i1"}',
    `{"user":"${'u'.repeat(257)}","item":"i1"}`,
    '{"user":"\\ud800","item":"i1"}',
  ],
  'bad-value': [
    '{"user":"u1","item":"i1","value":1e308}',
    '{"user":"u1","item":"i1","value":"five"}',
    '{"user":"u1","item":"i1","value":true}',
    '{"user":"u1","item":"i1","value":-1}',
  ],
  'bad-time': [
    '{"user":"u1","item":"i1","time":1e300}',
    '{"user":"u1","item":"i1","time":-1}',
    '{"user":"u1","item":"i1","time":"now"}',
  ],
  'unknown-schema': [Buffer.from([0, 0, 0, 0, 99, 1, 2]), Buffer.from([0xc3, 1, 1, 2, 3])],
  'not-avro': [
    Buffer.from([0, 0]),
    encodeRating({ user: 'u1', item: 'i1', value: 1, time: null }).subarray(0, 14),
  ],
  'too-large': ['x'.repeat(70_000)],
};

const nonsense: Kind = {
  name: 'nonsense of every kind is parked with its reason and its bytes',
  play: async (stage) => {
    const all = Object.entries(contents).flatMap(([reason, values]) =>
      values.map((value) => ({ reason, value })),
    );
    const places = await stage.send(
      all.map(({ value }, at) => ({ topic: 'ratings', partition: at % 4, key: 'u1', value })),
    );
    for (const [at, { reason, value }] of all.entries()) {
      const letter = await stage.letterOf(places[at]);
      expect(letter.headers['freshet-reason'], String(value).slice(0, 60)).toBe(reason);
      expect(letter.bytes).toBe(Buffer.from(value).length);
    }
  },
};

/**
 * Times that Kafka allows for a record: none, the lowest, and one that a double cannot hold
 * exactly.
 */
const times = [-1n, 0n, -(2n ** 62n)];

// A bug that this test found: a time below −2⁵³ could not be written to item-ratings, and the
// updater ended.
const ancient: Kind = {
  name: 'records of any time that Kafka takes: a user can be forgotten even before time began',
  play: async (stage) => {
    const { honest } = stage;
    for (const [at, timestamp] of times.entries()) {
      const user = `forgotten-${at}`;
      await stage.send(['i5', 'i6', 'i7'].map((item) => honest.record({ user, item, value: 3 })));
      await stage.send([{ ...honest.forget(user), timestamp }]);
      const [junk] = await stage.send([{ topic: 'ratings', value: 'junk', timestamp }]);
      await stage.letterOf(junk);
    }
  },
};

export const ratingKinds: readonly Kind[] = [
  ...headerKinds,
  largest,
  hugeKey,
  largeHeaders,
  manyLetters,
  bomb,
  nonsense,
  ancient,
];
