/**
 * The log is cut, recreated or corrupted under a running system. The partition concerned is held
 * and says what to do, and the others go on. After the operator has done it, every rating that the
 * log still holds counts on both sides.
 */
import { openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { shardOf, topicConfig } from '@freshet/events';
import { readSources } from '@freshet/positions';
import { eventually, System, violationsOf } from '@freshet/testkit';
import { type Admin, Kafka, Partitioners, type Producer } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';

const SHARDS = 4;
let system: System;
let admin: Admin;
let producer: Producer;
let pid: number | undefined;
/** `user item value` of what must be known. */
let expected: Set<string>;

/** A user of each partition, by name. */
const userOf = (partition: number, nth: number): string => {
  for (let n = 0; ; n++) {
    const name = `user-${nth}-${n}`;
    if (shardOf(name, SHARDS) === partition) return name;
  }
};

async function rate(partition: number, items: readonly string[], value = 5): Promise<void> {
  const messages = items.map((item, nth) => {
    const user = userOf(partition, nth);
    return { key: user, value: JSON.stringify({ user, item, value }), partition };
  });
  await producer.send({ topic: 'ratings', messages });
}

const ratingsOf = (partition: number, items: readonly string[], value = 5): string[] =>
  items.map((item, nth) => `${userOf(partition, nth)} ${item} ${value}`);

const items = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, nth) => `${prefix}-${nth}`);

/**
 * Everything expected is known on both sides, nothing else is, and the audit finds nothing wrong.
 */
async function expectWhole(): Promise<void> {
  expect(violationsOf(await system.snapshot(), expected)).toEqual([]);
  const { code, out, err } = await system.freshet(['audit', '--quiet']);
  expect({ code, out, err }).toMatchObject({ code: 0 });
  expect(system.child('updater').pid).toBe(pid);
  expect(system.child('updater').running).toBe(true);
}

const isHeld = async (reason: RegExp): Promise<boolean> =>
  reason.test((await system.waitsFor('updater')) ?? '');

async function untilHeld(reason: RegExp): Promise<void> {
  await eventually(`the updater to say ${reason}`, () => isHeld(reason));
  await untilCountedAsHeld();
}

async function untilCountedAsHeld(): Promise<void> {
  await eventually('the metric to tell', () =>
    system.metric('updater', 'freshet_held_partitions', { topic: 'ratings' }),
  );
}

interface Spoilt {
  /** What the updater says if it did not read the records before they were spoilt. */
  readonly reason: RegExp;
  /** All that was written, of which everything counts if it did. */
  readonly written: readonly (readonly [partition: number, items: readonly string[]])[];
}

/**
 * Writes records of a partition and spoils them while the updater is halted; it has read all before
 * them. A fetch in flight brings it what is written first: `asked`, one record. It may bring the
 * others too, since Kafka answers a fetch after it has acknowledged the record that was waited for.
 * Then nothing is wrong, and it is done again, with other names and from another offset.
 */
async function spoilUnread(
  partition: number,
  spoil: (attempt: number, start: number) => Promise<Spoilt>,
): Promise<{ attempt: number; start: number }> {
  for (let attempt = 0; ; attempt++) {
    const start = await endOf(partition);
    system.child('updater').signal('SIGSTOP');
    await rate(partition, items(`asked${attempt}`, 1));
    const { reason, written } = await spoil(attempt, start);
    system.child('updater').signal('SIGCONT');
    const end = await endOf(partition);
    const found = await eventually(
      `the updater to say ${reason}, or to have read all`,
      async () => {
        if (await isHeld(reason)) return 'held';
        return (await positionOf(partition)) === end && 'read';
      },
    );
    if (found === 'held') {
      await untilCountedAsHeld();
      return { attempt, start };
    }
    for (const each of ratingsOf(partition, items(`asked${attempt}`, 1))) expected.add(each);
    for (const [at, names] of written) for (const each of ratingsOf(at, names)) expected.add(each);
    await system.settled();
  }
}

/** Runs `freshet sources`, then `--accept`, and waits until the updater goes on by itself. */
async function accept(state: string): Promise<void> {
  const look = await system.freshet(['sources']);
  expect(look.code).toBe(1);
  expect(look.out).toContain(state);
  const accepted = await system.freshet(['sources', '--accept']);
  expect(accepted).toMatchObject({ code: 0 });
  await eventually('the updater to be ready again', async () => {
    return (await system.waitsFor('updater')) === null;
  });
  const after = await system.freshet(['sources']);
  expect(after).toMatchObject({ code: 0 });
  expect(after.out).toContain(`: ${state}, `);
}

/** Offset in the source after everything that intake has sent on. */
async function positionOf(partition: number): Promise<number> {
  const sources = await system.withSession(({ admin, model }) =>
    readSources(admin, model, ['ratings']),
  );
  return sources.find((each) => each.partition === partition)?.position ?? 0;
}

async function endOf(partition: number): Promise<number> {
  const offsets = await admin.fetchTopicOffsets('ratings');
  return Number(offsets.find((at) => at.partition === partition)?.high);
}

async function recreate(): Promise<void> {
  await admin.deleteTopics({ topics: ['ratings'] });
  await eventually('the topic to be created anew', async () => {
    const configEntries = Object.entries(topicConfig('ratings', 7)).map(([name, value]) => {
      return { name, value };
    });
    const topic = { topic: 'ratings', numPartitions: SHARDS, configEntries };
    return admin.createTopics({ topics: [topic], waitForLeaders: false });
  });
  await eventually('it to be led', async () => {
    return (await admin.fetchTopicOffsets('ratings')).length === SHARDS;
  });
}

beforeAll(async () => {
  system = await System.start({ KAFKA_SESSION_MS: '6000' });
  const kafka = new Kafka({ brokers: [system.brokers], logLevel: 0, retry: { retries: 10 } });
  admin = kafka.admin();
  producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await Promise.all([admin.connect(), producer.connect()]);
  pid = system.child('updater').pid;
  expected = new Set();
  for (let partition = 0; partition < SHARDS; partition++) {
    await rate(partition, items('first', 10));
    for (const each of ratingsOf(partition, items('first', 10))) expected.add(each);
  }
  await system.settled();
});

afterAll(async () => {
  await Promise.all([admin?.disconnect(), producer?.disconnect()]);
  await system?.close();
});

it('records deleted before they were read are not passed over in silence', async () => {
  const { attempt, start } = await spoilUnread(0, async (attempt, start) => {
    const [second, elsewhere] = [items(`second${attempt}`, 29), items(`second${attempt}`, 5)];
    await rate(0, second);
    await rate(1, elsewhere);
    const partitions = [{ partition: 0, offset: String(start + 20) }];
    await admin.deleteTopicRecords({ topic: 'ratings', partitions });
    const lost = `offsets (${start}|${start + 1}) to ${start + 19} were deleted before they were read`;
    return {
      reason: new RegExp(`ratings/0: ${lost}.*freshet sources`),
      written: [
        [0, second],
        [1, elsewhere],
      ],
    };
  });
  // Intake commits its offsets five times a second, also while a partition is held.
  const lag = await eventually('what is not read to be known', async () => {
    const shown = await system.metric('aggregator', 'freshet_lag_ratings', {
      point: 'intake',
      partition: 'ratings:0',
    });
    return [29, 30].includes(shown) && shown;
  });
  const arrived = await eventually('the position to fit it', async () => {
    const position = await positionOf(0);
    return start + 30 - position === lag && { asked: position - start };
  });
  for (const each of ratingsOf(0, items(`asked${attempt}`, arrived.asked))) expected.add(each);
  for (const each of ratingsOf(1, items(`second${attempt}`, 5))) expected.add(each);
  const elsewhere = await endOf(1);
  await eventually('the other partitions to go on', async () => {
    return (await positionOf(1)) === elsewhere;
  });
  await eventually('the lag to be that of the partition alone', async () => {
    return (
      (await system.metric('aggregator', 'freshet_lag_ratings_all', { point: 'user_applied' })) ===
      lag
    );
  });
  await accept('cut');
  for (const each of ratingsOf(0, items(`second${attempt}`, 29)).slice(19)) expected.add(each);
  await rate(0, items('third', 3));
  for (const each of ratingsOf(0, items('third', 3))) expected.add(each);
  await expectWhole();
});

it('a topic created anew with fewer records is noticed, and learnt from its beginning once accepted', async () => {
  await recreate();
  for (let partition = 0; partition < SHARDS; partition++) {
    await rate(partition, items('anew', 4));
    for (const each of ratingsOf(partition, items('anew', 4))) expected.add(each);
  }
  await untilHeld(/ratings\/\d: .* deleted and created anew.*freshet sources/);
  await accept('recreated');
  await expectWhole();
});

it('a topic created anew and filled beyond the old position at once is noticed too', async () => {
  await recreate();
  await rate(2, items('refilled', 40));
  for (const each of ratingsOf(2, items('refilled', 40))) expected.add(each);
  await untilHeld(/ratings\/\d: .* deleted and created anew/);
  await accept('recreated');
  await rate(2, items('later', 2));
  for (const each of ratingsOf(2, items('later', 2))) expected.add(each);
  await expectWhole();
});

it('a batch whose bytes are corrupt is named, holds its partition alone, and can be skipped', async () => {
  const { attempt } = await spoilUnread(3, async (attempt, start) => {
    const [spoilt, good] = [items(`spoilt${attempt}`, 6), items(`good${attempt}`, 4)];
    await rate(3, spoilt);
    await rate(3, good);
    spoilBatchAt(3, start + 1);
    const range = `offsets ${start + 1} to ${start + 6}`;
    return {
      reason: new RegExp(`ratings/3: the batch at ${range} cannot be read`),
      written: [
        [3, spoilt],
        [3, good],
      ],
    };
  });
  await accept('unreadable');
  for (const each of ratingsOf(3, items(`asked${attempt}`, 1))) expected.add(each);
  for (const each of ratingsOf(3, items(`good${attempt}`, 4))) expected.add(each);
  await expectWhole();
});

/** Overwrites bytes of the batch that begins at an offset, in the broker's own file. */
function spoilBatchAt(partition: number, offset: number): void {
  const folder = join(system.folder, 'kafka', `ratings-${partition}`);
  const name = readdirSync(folder).find((each) => each.endsWith('.log')) ?? '';
  const bytes = readFileSync(join(folder, name));
  let at = 0;
  while (Number(bytes.readBigInt64BE(at)) < offset) at += 12 + bytes.readInt32BE(at + 8);
  writeSync(openSync(join(folder, name), 'r+'), Buffer.from('spoilt'), 0, 6, at + 80);
}
