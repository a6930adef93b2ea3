/** The whole path on real servers: a rating goes in, a recommendation comes out. */
import { encodeRating, murmur2 } from '@freshet/events';
import { eventually, filmClub, filmClubRatings, kcat, System } from '@freshet/testkit';
import { Kafka, Partitioners, type Producer } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let system: System;
let kafka: Kafka;
let producer: Producer;

const { films: FILMS, people: PEOPLE, ratedEach } = filmClub;
/** Ratings that are sent at once. After each wave both sides get the vectors of the other. */
const WAVE = 24 * ratedEach;

function filmsOf(items: readonly { item: string }[]): number[] {
  return items.map(({ item }) => Number(item.slice('film-'.length)));
}

describe.each(['standalone', 'cluster'] as const)(
  'a rating goes in, a recommendation comes out, on Redis %s',
  (redis) => {
    beforeAll(async () => {
      system = await System.start({}, redis);
      kafka = new Kafka({ brokers: [system.brokers], logLevel: 0 });
      producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
      await producer.connect();
    });

    afterAll(async () => {
      await producer?.disconnect();
      await system?.close();
    });

    it('learns tastes from a plain kafkajs producer', async () => {
      const messages = filmClubRatings().map((rating) => ({
        key: rating.user,
        value: JSON.stringify(rating),
      }));
      for (let at = 0; at < messages.length; at += WAVE) {
        await producer.send({ topic: 'ratings', messages: messages.slice(at, at + WAVE) });
        await system.settled();
      }
      await eventually('people to be offered films of their kind', async () => {
        let right = 0;
        for (let person = 0; person < PEOPLE; person++) {
          const { items, fallback } = await system.recommendations(`person-${person}`, 1);
          const isOfKind = filmsOf(items).every((film) => film % 2 === person % 2);
          if (fallback === null && items.length === 1 && isOfKind) right++;
        }
        return right > 0.9 * PEOPLE;
      });
    });

    it('never recommends what the user has rated', async () => {
      const rated = filmClubRatings().filter(({ user }) => user === 'person-3');
      const items = await eventually('every other film to be offered', async () => {
        const answer = await system.recommendations('person-3', 50);
        return answer.items.length === FILMS - rated.length && answer.items;
      });
      for (const { item } of rated) expect(items.map((each) => each.item)).not.toContain(item);
    });

    it('answers for somebody it has never seen, and says so', async () => {
      const { items, fallback } = await system.recommendations('nobody/at all ☂');
      expect(fallback).toBe('newcomer');
      expect(items).toHaveLength(10);
    });

    it('takes ratings from kcat, whose partitioner differs, and applies each once', async () => {
      const users = Array.from({ length: 12 }, (_, index) => `kcat-${index}`);
      const lines = users.flatMap((user) =>
        [0, 2, 4, 6].map((film) => {
          const rating = { user, item: `film-${film}`, value: 5 };
          return `${user}\t${JSON.stringify(rating)}`;
        }),
      );
      const before = await system.metric('updater', 'freshet_ratings_applied_total', {
        side: 'user',
      });
      await kcat(system.brokers, ['-P', '-t', 'ratings', '-K', '\t'], `${lines.join('\n')}\n`);
      await eventually('all of them to be applied', async () => {
        const now = await system.metric('updater', 'freshet_ratings_applied_total', {
          side: 'user',
        });
        return now === before + lines.length;
      });
      await eventually('kcat-0 to be offered all but what it rated', async () => {
        const { items, fallback } = await system.recommendations('kcat-0', 50);
        const isRated = filmsOf(items).some((film) => [0, 2, 4, 6].includes(film));
        return fallback === null && items.length === FILMS - 4 && !isRated;
      });
    });

    it('takes Avro by fingerprint and by registry id beside JSON', async () => {
      const body = (item: string) => encodeRating({ user: 'avro', item, value: 5, time: null });
      const confluent = Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), body('film-3').subarray(10)]);
      const messages = [body('film-1'), confluent].map((value) => ({ key: 'avro', value }));
      await producer.send({ topic: 'ratings', messages });
      await eventually('both films to count as rated', async () => {
        const { items, fallback } = await system.recommendations('avro', 50);
        return fallback === null && items.length === FILMS - 2;
      });
    });

    it('answers requests on the topic, with the correlation id of the request', async () => {
      const consumer = kafka.consumer({ groupId: 'asker', maxWaitTimeInMs: 100 });
      await consumer.connect();
      await consumer.subscribe({ topics: ['recommendations'], fromBeginning: true });
      const answers: { id: string; user: string; count: number; partition: number }[] = [];
      await consumer.run({
        eachMessage: async ({ message, partition }) => {
          const { user, items } = JSON.parse(String(message.value));
          const id = String(message.headers?.['correlation-id']);
          answers.push({ id, user, count: items.length, partition });
        },
      });
      await producer.send({
        topic: 'recommendation-requests',
        messages: [
          {
            key: 'person-2',
            value: JSON.stringify({ user: 'person-2', n: 3 }),
            headers: { 'correlation-id': 'q1' },
          },
        ],
      });
      const [answer] = await eventually('the answer', async () => answers.length > 0 && answers);
      const partition = (murmur2(Buffer.from('person-2')) & 0x7fffffff) % 4;
      expect(answer).toEqual({ id: 'q1', user: 'person-2', count: 3, partition });
      await consumer.disconnect();
    });

    it('parks what can never be applied, with its bytes and the reason, and goes on', async () => {
      await producer.send({ topic: 'ratings', messages: [{ key: 'bad', value: '{"user":7}' }] });
      const printed = await eventually('the dead letter', async () => {
        const format = ['-f', '%s %h\n'];
        const args = ['-C', '-t', 'ratings-dead-letter', '-o', 'beginning', '-e', '-q', ...format];
        return (await kcat(system.brokers, args)).trim() || undefined;
      });
      expect(printed).toContain('{"user":7}');
      expect(printed).toContain('freshet-reason=bad-id');
      expect(printed).toContain('freshet-topic=ratings');
    });

    it('forgets a user on a null record', async () => {
      await producer.send({ topic: 'ratings', messages: [{ key: 'person-5', value: null }] });
      await eventually('person-5 to be a stranger', async () => {
        return (await system.recommendations('person-5')).fallback === 'newcomer';
      });
    });

    it('refuses nonsense over HTTP with a problem document', async () => {
      for (const n of ['0', '-1', '1e9', 'many']) {
        const response = await fetch(`${system.scorerUrl}/v1/recommendations/person-0?n=${n}`);
        expect(response.status, n).toBe(400);
        expect(response.headers.get('content-type')).toContain('application/problem+json');
        expect(await response.json()).toMatchObject({ status: 400, title: 'Bad Request' });
      }
      expect((await fetch(`${system.scorerUrl}/nothing`)).status).toBe(404);
    });
  },
);
