/** Every record is read, whichever codec the producer compressed it with. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serviceNames } from '@freshet/local';
import { eventually, kcatProduce, System, violationsOf } from '@freshet/testkit';
import { Kafka } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** By the number that Kafka gives each, in the attributes of a batch. */
const codecs = { gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const;
const names = Object.keys(codecs) as (keyof typeof codecs)[];

const PEOPLE = 20;
const RATINGS_EACH = 15;
const FILMS = 50;

let system: System;

const people = (codec: string) => Array.from({ length: PEOPLE }, (_, at) => `${codec}-${at}`);
const films = (codec: string) => Array.from({ length: FILMS }, (_, at) => `${codec}-film-${at}`);

function ratingsOf(codec: string): { user: string; item: string; value: number }[] {
  return people(codec).flatMap((user, person) =>
    Array.from({ length: RATINGS_EACH }, (_, at) => {
      const film = (person + 3 * at) % FILMS;
      return { user, item: `${codec}-film-${film}`, value: 1 + ((person + film) % 5) };
    }),
  );
}

/** Compressed by librdkafka, which leaves a batch as it is if it would not get smaller. */
function produce(topic: string, codec: string, records: readonly [string, object][]) {
  return kcatProduce(system.brokers, topic, records, ['-z', codec, '-X', 'linger.ms=200']);
}

/** The codecs of all batches of a topic, from the files of the broker. */
function codecsInLog(topic: string): Set<number> {
  const found = new Set<number>();
  const isSegment = new RegExp(`(^|/)${topic}-\\d+/\\d+\\.log$`);
  for (const path of readdirSync(system.folder, { recursive: true, encoding: 'utf8' })) {
    if (!isSegment.test(path)) continue;
    const bytes = readFileSync(join(system.folder, path));
    // A batch: offset, length of the rest, and 9 bytes further on its attributes.
    for (let at = 0; at + 23 <= bytes.length; at += 12 + bytes.readInt32BE(at + 8)) {
      if (bytes.readInt32BE(at + 8) <= 0) break;
      found.add(bytes.readInt16BE(at + 21) & 7);
    }
  }
  return found;
}

function expectEveryCodec(topic: string): void {
  expect([...codecsInLog(topic)]).toEqual(expect.arrayContaining(Object.values(codecs)));
}

describe('batches compressed with gzip, snappy, lz4 and zstd', () => {
  beforeAll(async () => {
    system = await System.start();
  });

  afterAll(async () => {
    await system?.close();
  });

  it('hold ratings that are applied on both sides, each once', async () => {
    const expected = new Set<string>();
    for (const codec of names) {
      const ratings = ratingsOf(codec);
      for (const { user, item, value } of ratings) expected.add(`${user} ${item} ${value}`);
      await produce(
        'ratings',
        codec,
        ratings.map((rating) => [rating.user, rating]),
      );
    }
    expectEveryCodec('ratings');
    expect(expected.size).toBe(names.length * PEOPLE * RATINGS_EACH);
    expect(violationsOf(await system.snapshot(), expected)).toEqual([]);
  });

  it('hold titles that are served', async () => {
    for (const codec of names) {
      await produce(
        'items',
        codec,
        films(codec).map((film) => [film, { title: `The title of ${film}` }]),
      );
    }
    expectEveryCodec('items');
    for (const codec of names) {
      await eventually(`titles that came in ${codec}`, async () => {
        const path = `/v1/recommendations/${codec}-0?n=200`;
        const { items } = (await (await fetch(system.scorerUrl + path)).json()) as {
          items: { item: string; title?: string }[];
        };
        const own = items.filter(({ item }) => item.startsWith(codec));
        return (
          own.length === FILMS - RATINGS_EACH &&
          own.every(({ item, title }) => title === `The title of ${item}`)
        );
      });
    }
  });

  it('hold requests that are answered', async () => {
    const kafka = new Kafka({ brokers: [system.brokers], logLevel: 0 });
    const consumer = kafka.consumer({ groupId: 'asker', maxWaitTimeInMs: 100 });
    await consumer.connect();
    await consumer.subscribe({ topics: ['recommendations'], fromBeginning: true });
    const answered = new Set<string>();
    await consumer.run({
      eachMessage: async ({ message }) => {
        const { user, items } = JSON.parse(String(message.value));
        if (items.length === 3) answered.add(user);
      },
    });
    for (const codec of names) {
      await produce(
        'recommendation-requests',
        codec,
        people(codec).map((user) => [user, { user, n: 3 }]),
      );
    }
    expectEveryCodec('recommendation-requests');
    const asked = names.flatMap(people).sort();
    await eventually('an answer to everybody', async () => answered.size === asked.length);
    expect([...answered].sort()).toEqual(asked);
    await consumer.disconnect();
  });

  it('stop no service', () => {
    for (const name of serviceNames) expect(system.child(name).running, name).toBe(true);
  });
});
