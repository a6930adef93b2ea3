/** Hostile records on the requests topic are answered, refused with the reason, or parked. */
import { expect } from 'vitest';
import { AvroType } from '../../../packages/events/src/avro.ts';
import { type Headers, hostileHeaders } from './hostile-headers.ts';
import { LARGEST_VALUE } from './rating-kinds.ts';
import type { Bytes, RawRecord } from './raw-producer.ts';
import { type Kind, OWN_REPLIES, SMALL_REPLIES, type Stage } from './stage.ts';

const topic = 'recommendation-requests';
const avroType = new AvroType<object>('recommendation-request.avsc');
const avroRequest = avroType.encode({ user: 'u1', n: 3, model: null });
let asked = 0;

function request(headers: Headers = [], value: Bytes = '{"user":"u1","n":3}') {
  const partition = asked++ % 4;
  const id = `request-${asked}`;
  const record: RawRecord = {
    topic,
    partition,
    value,
    headers: [['correlation-id', id], ...headers],
  };
  return { id, record };
}

/** The only answer to a request, wherever it is. */
async function answerTo(stage: Stage, id: string) {
  const [answer] = await stage.sees(`an answer to ${id}`, async () => {
    const found = stage.watch.answersTo(id);
    return found.length > 0 && found;
  });
  return answer;
}

/**
 * A valid request on every partition. Once these are answered, all records before them were read.
 */
async function lookedAt(stage: Stage): Promise<void> {
  const last = Array.from({ length: 4 }, () => request());
  await stage.send(last.map(({ record }) => record));
  for (const { id } of last) await answerTo(stage, id);
}

const forbidden: readonly (Buffer | string)[] = [
  'default.grams',
  'default.gram-parts',
  'default.item-ratings',
  'default.user-factors',
  'default.item-factors',
  'default.claims',
  'default.anything',
  'other.grams',
  'ratings',
  'items',
  'ratings-dead-letter',
  'recommendation-requests',
  '__consumer_offsets',
  '__transaction_state',
  'recommendations-nobody-created',
  'RECOMMENDATIONS-MINE',
  'recommendations ',
  'recommendations-mine\n',
  '',
  '.',
  '..',
  '*',
  '../../etc/passwd',
  '☃',
  'x'.repeat(300),
  'x'.repeat(100_000),
  Buffer.from([0xff, 0xfe, 0x00]),
];

const replyTopics: Kind = {
  name: 'a reply-topic that is not allowed is refused where answers go, with the reason',
  play: async (stage) => {
    const all = forbidden.map((name) => ({ name, ...request([['reply-topic', name]]) }));
    const inAvro = request([['reply-topic', 'default.grams']], avroRequest);
    await stage.send([...all, inAvro].map(({ record }) => record));
    for (const { name, id } of all) {
      const { topic: where, headers, value } = await answerTo(stage, id);
      expect(where, String(name).slice(0, 60)).toBe('recommendations');
      expect(headers['freshet-error']).toContain('no answer on reply-topic');
      expect(JSON.parse(value)).toMatchObject({ items: [], error: headers['freshet-error'] });
    }
    const { headers } = await answerTo(stage, inAvro.id);
    expect(headers['freshet-error']).toContain('one of Freshet’s own');
  },
};

const ownTopics: Kind = {
  name: 'an allowed reply-topic is answered there; what is too large for it is dropped',
  play: async (stage) => {
    const mine = request([['reply-topic', OWN_REPLIES]]);
    const small = request([['reply-topic', SMALL_REPLIES]], '{"user":"u1","n":100}');
    const repeated = request([
      ['reply-topic', null],
      ['reply-topic', OWN_REPLIES],
      ['reply-topic', 'default.grams'],
    ]);
    const toOurs = request([['reply-topic', 'recommendations']]);
    await stage.send([mine, small, repeated, toOurs].map(({ record }) => record));
    for (const { id } of [mine, repeated]) {
      const { topic: where, headers, value } = await answerTo(stage, id);
      expect(where).toBe(OWN_REPLIES);
      expect(headers).not.toHaveProperty('freshet-error');
      expect(JSON.parse(value).items).toHaveLength(3);
    }
    expect((await answerTo(stage, toOurs.id)).topic).toBe('recommendations');
    await lookedAt(stage);
    expect(stage.watch.answersTo(small.id)).toEqual([]);
  },
};

const headers: Kind = {
  name: 'hostile headers of every kind keep nobody from an answer',
  play: async (stage) => {
    const all = Object.values(hostileHeaders).map((each) => request(each));
    await stage.send(all.map(({ record }) => record));
    for (const { id } of all) expect((await answerTo(stage, id)).value).toContain('"u1"');
  },
};

const correlation: Kind = {
  name: 'a correlation id of 2 MB is answered without it',
  play: async (stage) => {
    const huge = [['correlation-id', Buffer.alloc(2 << 20, 'c')]] as const;
    await stage.send([{ topic, value: '{"user":"asks-at-length"}', headers: huge }]);
    await stage.sees('the answer', async () => stage.watch.answersFor('asks-at-length').length);
    const [answer] = stage.watch.answersFor('asks-at-length');
    expect(answer?.headers).not.toHaveProperty('correlation-id');
  },
};

const deadlines: Kind = {
  name: 'a deadline that makes no sense has passed, one that never comes has not',
  play: async (stage) => {
    const passed = ['', 'soon', '-1', '0', 'NaN', '{}', '-Infinity', '1e3'].map((deadline) =>
      request([['deadline', deadline]]),
    );
    const never = ['Infinity', '1e400', '99999999999999999999'].map((deadline) =>
      request([['deadline', deadline]]),
    );
    await stage.send([...passed, ...never].map(({ record }) => record));
    for (const { id } of never) await answerTo(stage, id);
    await lookedAt(stage);
    for (const { id } of passed) expect(stage.watch.answersTo(id)).toEqual([]);
  },
};

const nonsense: readonly (readonly [reason: string, value: Bytes])[] = [
  ['not-json', null],
  ['not-json', ''],
  ['not-json', '{'],
  ['not-json', Buffer.from([0xff, 0x00, 0x80])],
  ['not-json', '['.repeat(1_000_000)],
  ['not-json', `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`],
  ['bad-id', `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`],
  ['not-json', 'null'],
  ['not-json', '7'],
  ['bad-id', '{"user":{}}'],
  ['bad-id', '{"user":"\\udfff"}'],
  ['bad-id', `{"user":"${'u'.repeat(100_000)}"}`],
  ...['0', '-1', '1001', '1e308', '0.5', '"3"', 'null', '[3]', '{}', 'true'].map(
    (n) => ['bad-value', `{"user":"u1","n":${n}}`] as const,
  ),
  ['not-avro', Buffer.from([0xc3, 0x01])],
  ['not-avro', Buffer.concat([Buffer.from([0xc3, 0x01]), Buffer.alloc(1_000, 0xff)])],
  ['not-avro', avroRequest.subarray(0, avroRequest.length - 1)],
  ['not-avro', Buffer.concat([avroRequest, Buffer.from([0])])],
  ['not-json', Buffer.alloc(LARGEST_VALUE - 100, 'x')],
];

const parked: Kind = {
  name: 'nonsense of every kind is parked with its reason',
  play: async (stage) => {
    const all = nonsense.map(([, value]) => request([], value));
    const places = await stage.send(all.map(({ record }) => record));
    for (const [at, [reason, value]] of nonsense.entries()) {
      const letter = await stage.letterOf(places[at]);
      expect(letter.headers['freshet-reason'], String(value).slice(0, 40)).toBe(reason);
    }
  },
};

export const requestKinds: readonly Kind[] = [
  replyTopics,
  ownTopics,
  headers,
  correlation,
  deadlines,
  parked,
];
