/** Hostile records on every internal topic are skipped and counted, and change nothing else. */
import { randomBytes } from 'node:crypto';
import { topicName } from '@freshet/events';
import { expect } from 'vitest';
import { MODEL } from './honest-ratings.ts';
import { hostileHeaders } from './hostile-headers.ts';
import {
  absurd,
  type InternalTopic,
  internalTopics,
  partitionsOf,
  type RealRecords,
} from './internal-events.ts';
import { LARGEST_VALUE } from './rating-kinds.ts';
import type { RawRecord } from './raw-producer.ts';
import type { Kind, Stage } from './stage.ts';

const PASSED_OVER = 'freshet_records_passed_over_total';

/** How many readers, over all services, skip a record of the topic. */
const readers: Readonly<Record<InternalTopic, number>> = {
  userRatings: 1,
  itemRatings: 1,
  userFactors: 2, // the scorer's users, the pusher
  itemFactors: 2, // the user side's replica, the catalogue
  gramParts: 1,
  grams: 0, // only the newest of a fetch is looked at: it is not known how many that are
  claims: 0, // nobody reads them: where they lie is all that counts
};

/** Records that cannot be decoded as an event of their topic. */
function unreadable(topic: InternalTopic, partition: number, real: RealRecords): Buffer[] {
  const own = real.get(`${topic}/${partition}`) ?? Buffer.alloc(0);
  const others = internalTopics.filter((each) => each !== topic);
  const elsewhere = partitionsOf(topic).filter((each) => each !== partition);
  const taken = [
    ...others.map((each) => real.get(`${each}/0`)),
    ...elsewhere.map((each) => real.get(`${topic}/${each}`)),
  ];
  const cuts = [1, 2, 5, 10, 11, 14, 20, 40, Math.floor(own.length / 2), own.length - 1];
  return [
    Buffer.alloc(0),
    ...[1, 9, 10, 100, 5_000].map((length) => randomBytes(length)),
    Buffer.from('{"user":"u1","item":"i1"}'),
    ...cuts.filter((at) => at < own.length).map((at) => own.subarray(0, at)),
    Buffer.concat([own, Buffer.from([0])]),
    ...taken
      .filter((each) => each !== undefined && each.length > 0)
      .map((each) => Buffer.from(each ?? [])),
    ...absurd(topic, own, real.get(`${topic}/${(partition + 1) % 4}`)),
  ];
}

async function play(stage: Stage, topic: InternalTopic): Promise<void> {
  const name = topicName(topic, MODEL);
  const { real } = stage;
  const counted = () => stage.counted(PASSED_OVER, { topic: name });
  const before = await counted();
  const [records, repeated]: RawRecord[][] = [[], []];
  for (const partition of partitionsOf(topic)) {
    const place = { topic: name, partition, key: 'k' };
    const values = unreadable(topic, partition, real);
    const headers = Object.values(hostileHeaders);
    records.push(...values.map((value) => ({ ...place, value })));
    records.push(...headers.map((each) => ({ ...place, value: 'junk', headers: each })));
    records.push({ ...place, value: Buffer.alloc(LARGEST_VALUE - 10) });
    const own = real.get(`${topic}/${partition}`);
    repeated.push({ ...place, value: null });
    if (own !== undefined && own.length > 0) {
      repeated.push({ ...place, value: own }, { ...place, value: own });
    }
  }
  await stage.send([...records, ...repeated]);
  const goal = before + readers[topic] * records.length;
  if (topic === 'grams')
    await stage.sees('some to be passed over', async () => (await counted()) > before);
  else await stage.sees('all to be passed over', async () => (await counted()) >= goal);
  await stage.noLag();
  if (topic !== 'grams') expect(await counted()).toBe(goal);
}

export const internalKinds: readonly Kind[] = internalTopics.map((topic) => ({
  name: `${topicName(topic, MODEL)} with junk, cut, foreign, misplaced, repeated and absurd records`,
  play: (stage) => play(stage, topic),
}));
