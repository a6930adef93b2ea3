import { factorBatchCodec, UserRatingPack, userRatingsCodec } from '@freshet/events';
import { wasmKernels } from '@freshet/kernels';
import { defaultModel, firstTheta, Gram } from '@freshet/model';
import { ListedReplica } from '@freshet/replicas';
import { decodeRow, type FactorStore, MemoryStore } from '@freshet/store';
import { internalRecord, type LogRecord, tracesIn } from '@freshet/stream';
import { openLog } from '@freshet/telemetry';
import { MemoryLog } from '@freshet/testkit';
import { expect, it } from 'vitest';
import { GramPartPublisher } from './gram-part-publisher.ts';
import { Stage } from './stage.ts';
import { UserShard } from './user-shard.ts';

const settings = { ...defaultModel, factorCount: 4 };
const topic = 'm.user-ratings';
const SHARD = 0;

function stageOn(store: FactorStore, events = new MemoryLog(1)): Stage {
  const [log, kernels] = [openLog('stage', 'silent'), wasmKernels()];
  const fail = (error: unknown): never => {
    throw error;
  };
  const counts = { ratings: 0, values: 0, clock: 0, theta: firstTheta() };
  const zero = { user: Gram.zero(4), item: Gram.zero(4), ...counts };
  const items = new ListedReplica(kernels, 4, 1);
  const work = { shards: 1, settings, kernels, grams: () => zero, log, timed: () => {} };
  return new Stage({
    side: 'user',
    source: topic,
    model: 'm',
    shards: 1,
    factorCount: 4,
    cacheBytes: 1 << 20,
    store,
    publisher: events,
    admin: events,
    agreement: { renew: async () => {}, born: 0, rebuilt: 0 },
    gramParts: new GramPartPublisher(events, log, fail),
    log,
    fail,
    shard: (id, sums) => new UserShard({ ...work, id, topic, items, forgetSlice: 1 }, sums),
  });
}

function ratingAt(offset: number, item: string): LogRecord {
  const pack = new UserRatingPack();
  pack.add({ kind: 'rate', user: 'ann', item, value: 5, time: offset }, offset);
  const source = { topic: 'ratings', topicId: 'a', partition: 0, life: 0, produced: 0 };
  const value = userRatingsCodec.encode({ ...source, entries: pack.bytes });
  return { offset, timestamp: 0, key: null, value, headers: {} };
}

it('drops what was fetched ahead for a shard that went and came back meanwhile', async () => {
  const memory = new MemoryStore();
  let release = () => {};
  let isHeldUp = true;
  const store = new Proxy<FactorStore>(memory, {
    get: (target, name) => {
      const method = Reflect.get(target, name).bind(target);
      if (name !== 'load') return method;
      return async (...args: unknown[]) => {
        const found = await method(...args);
        if (!isHeldUp) return found;
        isHeldUp = false;
        return new Promise((resolve) => {
          release = () => resolve(found);
        });
      };
    },
  });
  const stage = stageOn(store);
  const beat = async () => {};
  await stage.takeOver(SHARD);
  stage.prepare(SHARD, [ratingAt(0, 'tea')]);
  await new Promise((resolve) => setImmediate(resolve));
  stage.release(SHARD);
  await stage.takeOver(SHARD);
  expect(await stage.consume(SHARD, [ratingAt(0, 'tea')], 1, beat)).toBe(true);
  release();
  await new Promise((resolve) => setImmediate(resolve));
  expect(await stage.consume(SHARD, [ratingAt(1, 'tea')], 2, beat)).toBe(true);
  const { body, facts } = await memory.entity({ side: 'user', shard: SHARD }, 'ann');
  expect([...decodeRow(body ?? new Uint8Array()).keys()]).toEqual(['tea']);
  expect(facts.ratings).toBe(1);
});

it('publishes, with each user it moved, the trace of the last rating that did so', async () => {
  const trace = (digit: string) => `00-${digit.repeat(32)}-00f067aa0ba902b7-01`;
  const pack = new UserRatingPack();
  const given: [user: string, item: string, time: number, trace?: string][] = [
    ['ann', 'tea', 5, trace('a')],
    ['bob', 'tea', 5],
    ['ann', 'cup', 6, trace('b')],
    ['ann', 'tea', 4, trace('c')], // older than the one known: moves nobody
    ['ann', 'pot', 7],
  ];
  for (const [offset, [user, item, time]] of given.entries()) {
    pack.add({ kind: 'rate', user, item, value: 5, time }, offset);
  }
  const traces = given.flatMap(([, , , each], at): [number, string][] =>
    each === undefined ? [] : [[at, each]],
  );
  const source = { topic: 'ratings', topicId: 'a', partition: 0, life: 0, produced: 0 };
  const value = userRatingsCodec.encode({ ...source, entries: pack.bytes });
  const { headers = {} } = internalRecord({ topic, key: null, value }, new Map(traces));
  const events = new MemoryLog(1);
  const stage = stageOn(new MemoryStore(), events);
  await stage.takeOver(SHARD);
  const record = { offset: 0, timestamp: 0, key: null, value, headers };
  await stage.consume(SHARD, [record], 1, async () => {});
  await stage.drain();
  const [moved] = events.records('m.user-factors', SHARD);
  const { ids } = factorBatchCodec.decode(moved?.value ?? Buffer.alloc(0));
  expect(tracesIn(moved ?? { headers: {} })).toEqual(new Map([[ids.indexOf('ann'), trace('b')]]));
});
