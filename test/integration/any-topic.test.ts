/**
 * Ratings come from existing topics of other teams, with their own names, fields, keys and numbers
 * of partitions, which later grow. Every rating counts once, and Freshet writes nothing to these
 * topics.
 */
import { serviceNames } from '@freshet/local';
import { eventually, kcatProduce, System, violationsOf } from '@freshet/testkit';
import { type Admin, Kafka } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const CLICKS = 'web.clicks';
const ORDERS = 'shop_orders';
const PEOPLE = 40;
const THINGS = 25;

let system: System;
let admin: Admin;
/** The last value of each rating, by `user item`. */
const truth = new Map<string, number>();
let produced = 0;
let clock = 1_700_000_000;

/**
 * One event of a shop: the type implies the value, the user is nested, and the user id is a number.
 */
function click(): object {
  const n = produced++;
  const [person, thing] = [(n * 7) % PEOPLE, (n * 11) % THINGS];
  const type = n % 3 === 0 ? 'purchase' : 'view';
  truth.set(`${person} thing-${thing}`, type === 'purchase' ? 5 : 1);
  return { session: n, customer: { id: person }, sku: `thing-${thing}`, at: ++clock, type };
}

/** Sent by librdkafka with its default partitioner, under keys that are no ids. */
function send(topic: string, events: readonly object[]): Promise<void> {
  const records = events.map((event, at) => [`key-${(at * 31) % 97}`, event] as const);
  return kcatProduce(system.brokers, topic, records, ['-X', 'linger.ms=20']);
}

const clicks = (count: number) => Array.from({ length: count }, click);

async function expectWhole(): Promise<void> {
  const expected = new Set([...truth].map(([pair, value]) => `${pair} ${value}`));
  expect(violationsOf(await system.snapshot(), expected)).toEqual([]);
}

/** Records that a topic holds, over all partitions. */
async function held(topic: string): Promise<number> {
  const offsets = await admin.fetchTopicOffsets(topic);
  return offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0);
}

beforeAll(async () => {
  system = await System.open({
    RATINGS_TOPICS: `${CLICKS},${ORDERS}`,
    RATING_FIELDS: 'user=customer.id,item=sku,time=at,kind=type',
    RATING_KINDS: 'view:1,purchase:5,remove:null',
  });
  admin = new Kafka({ brokers: [system.brokers], logLevel: 0 }).admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic: CLICKS, numPartitions: 7 }] });
  await send(CLICKS, clicks(300));
  for (const name of serviceNames) system.launch(name);
});

afterAll(async () => {
  await admin?.disconnect();
  await system?.close();
});

describe('a topic that is there already', () => {
  it('is learnt from while another is waited for, by name', async () => {
    await eventually('the updater to say which topic it waits for', async () =>
      new RegExp(`${ORDERS}.*does not exist`).test((await system.waitsFor('updater')) ?? ''),
    );
    await eventually('ratings of the first to be applied', () =>
      system.metric('updater', 'freshet_ratings_applied_total', { side: 'item' }),
    );
    await admin.createTopics({ topics: [{ topic: ORDERS, numPartitions: 3 }] });
    for (const name of serviceNames) await system.ready(name);
    await send(ORDERS, clicks(100));
    await expectWhole();
    expect(await admin.listTopics()).not.toContain('ratings');
  });

  it('may get more partitions under load', async () => {
    const load = (async () => {
      for (let round = 0; round < 12; round++) await send(CLICKS, clicks(150));
    })();
    await admin.createPartitions({ topicPartitions: [{ topic: CLICKS, count: 12 }] });
    await load;
    await send(CLICKS, clicks(1_000));
    const offsets = await admin.fetchTopicOffsets(CLICKS);
    expect(offsets.filter(({ partition, high }) => partition > 6 && Number(high) > 0)).not.toEqual(
      [],
    );
    await expectWhole();
  });

  it('has events that take a rating back, and some that nobody understands', async () => {
    truth.delete('3 thing-8');
    await send(CLICKS, [
      { customer: { id: 3 }, sku: 'thing-8', at: ++clock, type: 'remove' },
      { customer: { id: 3 }, sku: 'thing-8', at: ++clock, type: 'scroll' },
      { customer: {}, sku: 'thing-8', at: ++clock, type: 'view' },
    ]);
    produced += 3;
    await expectWhole();
    const parked = (reason: string) =>
      system.metric('updater', 'freshet_ratings_parked_total', { reason });
    await eventually('both to be parked', async () => {
      return (await parked('bad-kind')) === 1 && (await parked('bad-id')) === 1;
    });
  });

  it('holds nothing but what its producers and POST /v1/ratings wrote', async () => {
    expect((await held(CLICKS)) + (await held(ORDERS))).toBe(produced);
    const body = JSON.stringify({ user: '7', item: 'thing-3', value: 4 });
    const headers = { 'content-type': 'application/json' };
    const posted = await fetch(`${system.scorerUrl}/v1/ratings`, { method: 'POST', body, headers });
    expect(posted.status).toBe(202);
    truth.set('7 thing-3', 4);
    await expectWhole();
    expect((await held(CLICKS)) + (await held(ORDERS))).toBe(produced + 1);
    const audit = await system.freshet(['audit', '--deep', '--quiet']);
    expect(audit, audit.out + audit.err).toMatchObject({ code: 0 });
  });
});
