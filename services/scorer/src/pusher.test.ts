import type { Recommendation } from '@freshet/events';
import type { LogRecord } from '@freshet/stream';
import { describe, expect, it } from 'vitest';
import { describeAll } from './followed-metadata.ts';
import { Pusher } from './pusher.ts';
import { RequestAnswerer } from './request-answerer.ts';

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

type PublishAll = ConstructorParameters<typeof Pusher>[0]['publisher']['publish'];

const recommend = async (user: string, n: number): Promise<Recommendation> => ({
  user,
  items: [{ item: `best of ${n}`, score: 1 }],
  model: { name: 'm', position: 1 },
  fallback: null,
});

function pusher(perSecond: number) {
  const sent: string[] = [];
  const headers: (LogRecord['headers'] | undefined)[] = [];
  const publish: PublishAll = async (records) => {
    for (const record of records) {
      sent.push(String(record.key));
      headers.push(record.headers);
    }
  };
  const admin = { ends: async () => new Map([[0, 7]]) };
  const log = { warn: () => {} };
  const waits = () => null;
  const shared = { model: 'm', factorCount: 2, items: 3, perSecond, admin, waits, log };
  const failed = (error: unknown) => {
    throw error;
  };
  const options = { ...shared, recommender: { recommend }, publisher: { publish }, failed };
  return { pusher: new Pusher(options), sent, headers };
}

describe('pushes', () => {
  it('are one for each user, however often the vector moved', async () => {
    const { pusher: pushes, sent } = pusher(100);
    for (const user of ['a', 'b', 'a', 'a']) pushes.moved(user);
    await pushes.push();
    await pushes.push();
    expect(sent).toEqual(['a', 'b']);
  });

  it('are so many in a turn, the others wait', async () => {
    const { pusher: pushes, sent } = pusher(20);
    for (const user of ['a', 'b', 'c', 'd', 'e']) pushes.moved(user);
    await pushes.push();
    expect(sent).toEqual(['a', 'b']);
    await pushes.push();
    await pushes.push();
    expect(sent).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('carry the traceparent of the last rating that moved the user and has one', async () => {
    const { pusher: pushes, headers } = pusher(100);
    pushes.moved('a', TRACE.replaceAll('4', '5'));
    pushes.moved('b');
    pushes.moved('a', TRACE);
    pushes.moved('a');
    await pushes.push();
    expect(headers).toEqual([
      { 'freshet-push': 'true', traceparent: TRACE },
      { 'freshet-push': 'true' },
    ]);
  });

  it('begin with what moves from now on', async () => {
    expect(await pusher(1).pusher.takeOver(0)).toBe(7);
  });
});

describe('requests on the topic', () => {
  const warned: { correlationId?: string; reason?: string }[] = [];
  const answerHeaders: (LogRecord['headers'] | undefined)[] = [];

  async function answersTo(headers: LogRecord['headers'], asked = '{"user":"u"}') {
    const sent: string[] = [];
    warned.length = 0;
    answerHeaders.length = 0;
    const answerer = new RequestAnswerer({
      model: 'm',
      groupId: 'g',
      waits: () => null,
      replyTopics: ['recommendations', 'recommendations-*'],
      sources: ['recommendations-rated'],
      recommender: { recommend },
      publisher: {
        publish: async (records) => {
          for (const { key, topic, headers: given } of records) {
            answerHeaders.push(given);
            sent.push(topic === 'recommendations' ? String(key) : `${topic}: ${key}`);
          }
        },
      },
      admin: {
        committed: async () => new Map(),
        ranges: async () => new Map(),
        exists: async (topic) => topic !== 'recommendations-nowhere',
      },
      log: { warn: (told: object) => void warned.push(told) },
    });
    const value = Buffer.from(asked);
    await answerer.consume(0, [{ offset: 0, timestamp: 0, key: null, value, headers }], 1);
    return sent;
  }

  it('are answered until their deadline', async () => {
    expect(await answersTo({})).toEqual(['u']);
    expect(await answersTo({ deadline: String(Date.now() + 60_000) })).toEqual(['u']);
    expect(await answersTo({ deadline: String(Date.now() - 1) })).toEqual([]);
    expect(await answersTo({ deadline: 'soon' })).toEqual([]);
    expect(warned).toEqual([]);
  });

  it('that make no sense are parked, and found in the log by their correlation id', async () => {
    const parked = await answersTo({ 'correlation-id': 'ask-1' }, '{"user":7.5}');
    expect(parked).toEqual(['ratings-dead-letter: null']);
    expect(warned).toEqual([{ correlationId: 'ask-1', reason: 'bad-id', offset: 0 }]);
    await answersTo({ 'correlation-id': 'two\nlines' }, '{');
    expect(warned[0]?.correlationId).toBeUndefined();
  });

  it('are answered with their correlation id as it came, be it text or bytes', async () => {
    for (const id of ['ask-1', Buffer.from([0, 255, 254])]) {
      await answersTo({ 'correlation-id': id });
      expect(answerHeaders).toEqual([{ 'correlation-id': id }]);
    }
  });

  it('pass their traceparent on to answers, dead letters and log lines, if it is valid', async () => {
    await answersTo({ traceparent: TRACE });
    expect(answerHeaders).toEqual([{ traceparent: TRACE }]);
    await answersTo({ traceparent: 'nonsense' });
    expect(answerHeaders).toEqual([{}]);
    await answersTo({ traceparent: TRACE }, '{');
    expect(answerHeaders).toMatchObject([{ traceparent: TRACE, 'freshet-reason': 'not-json' }]);
    expect(warned).toMatchObject([{ trace: '4bf92f3577b34da6a3ce929d0e0e4736' }]);
  });

  it.each([
    ['recommendations', 'u'],
    ['recommendations-mobile', 'recommendations-mobile: u'],
  ])('are answered on %s if they ask for it', async (topic, answer) => {
    expect(await answersTo({ 'reply-topic': topic })).toEqual([answer]);
    expect(warned).toEqual([]);
  });

  it.each([
    ['m.grams', 'Freshet’s own'],
    ['other.item-ratings', 'Freshet’s own'],
    ['ratings', 'Freshet’s own'],
    ['__consumer_offsets', 'Freshet’s own'],
    ['recommendations-rated', 'ratings come from it'],
    ['payments', 'REPLY_TOPICS'],
    ['recommendations-nowhere', 'no such topic'],
    ['two\nlines', 'not a topic name'],
    [Buffer.from([255]), 'not a topic name'],
  ])('that name %s are answered where answers go, with the reason', async (topic, reason) => {
    expect(await answersTo({ 'reply-topic': topic })).toEqual(['u']);
    expect(warned).toEqual([{ reason: expect.stringContaining(reason) }]);
  });
});

describe('the items topic', () => {
  it('is read past records that make no sense', () => {
    const told: string[] = [];
    const warned: unknown[] = [];
    const record = (key: string, value: string | null, offset: number) => ({
      key: Buffer.from(key),
      value: value === null ? null : Buffer.from(value),
      offset,
      timestamp: 0,
      headers: {},
    });
    describeAll(
      { describe: (id) => void told.push(id) },
      [record('a', '{}', 0), record('b', 'nonsense', 1), record('c', null, 2)],
      { warn: (fields: unknown) => void warned.push(fields) },
    );
    expect(told).toEqual(['a', 'c']);
    expect(warned).toEqual([{ reason: 'not-json', message: 'not JSON', offset: 1 }]);
  });
});
