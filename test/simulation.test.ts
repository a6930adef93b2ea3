/**
 * Every rating counts once, on both sides, whatever dies and whenever: thousands of random histories
 * through the real stage, and the same with one guard taken away, to see that it is needed.
 */
import type { Side } from '@freshet/events';
import { Random } from '@freshet/model';
import { type FactorStore, MemoryStore } from '@freshet/store';
import { decodeOutbox, encodeOutbox } from '@freshet/stream';
import { snapshot } from '@freshet/testkit';
import { describe, expect, it } from 'vitest';
import type { RecordReader } from '../services/updater/src/owned-shard.ts';
import { produceSomething } from './simulation/producer.ts';
import { truthOf } from './simulation/truth.ts';
import { PARTITIONS, type Sabotage, sourceOf, World } from './simulation/world.ts';

const SEEDS = 300;
const LIMIT_MS = 240_000;
const STEPS = 120;

/** Runs one history; returns what is wrong at its end. */
async function violations(seed: number, sabotage: Sabotage = {}): Promise<string[]> {
  const random = new Random(seed);
  const memory = new MemoryStore();
  const world = new World(seed + 1, memory, sabotage);
  for (let step = 0; step < STEPS; step++) {
    if (random.next() < 0.6) await produceSomething(world, random, 1000 + step);
    await world.step();
  }
  await world.heal();
  const found: string[] = [];
  const { ratings: expected, applied } = truthOf(world.log, sourceOf('user'));
  const { ratings, gramError, counted, tallies } = await snapshot(memory, PARTITIONS);
  for (const side of ['user', 'item'] as const) {
    const missing = [...expected].filter((each) => !ratings[side].has(each));
    const extra = [...ratings[side]].filter((each) => !expected.has(each));
    if (missing.length + extra.length > 0) found.push(`${side} rows: −${missing} +${extra}`);
  }
  if (counted !== expected.size) found.push(`|R| is ${counted}, not ${expected.size}`);
  const { userApplied, userSent, itemApplied } = tallies;
  if (userApplied !== applied) found.push(`users applied ${userApplied}, not ${applied}`);
  if (itemApplied !== userSent) found.push(`items applied ${itemApplied}, not ${userSent}`);
  if (!(gramError < 1e-9)) found.push(`a gram is off by ${gramError}`);
  return found;
}

async function seedThatFails(sabotage: Sabotage): Promise<number | undefined> {
  for (let seed = 0; seed < SEEDS; seed++) {
    if ((await violations(seed, sabotage)).length > 0) return seed;
  }
  return undefined;
}

/** A store with one check of its commit turned off: what is asked of it is bent until it passes. */
function lax(
  bend: (
    store: MemoryStore,
    ...args: Parameters<FactorStore['commit']>
  ) => ReturnType<FactorStore['commit']>,
) {
  return (store: MemoryStore): FactorStore =>
    new Proxy(store, {
      get: (target, name) => {
        if (name === 'commit') {
          return (...args: Parameters<FactorStore['commit']>) => bend(target, ...args);
        }
        return Reflect.get(target, name).bind(target);
      },
    });
}

describe('every rating counts once', { timeout: LIMIT_MS }, () => {
  it(`in ${SEEDS} random histories of crashes, zombies and lost writes`, async () => {
    for (let seed = 0; seed < SEEDS; seed++) {
      expect(await violations(seed), `seed ${seed}`).toEqual([]);
    }
  });
});

describe('no guard can be spared:', { timeout: LIMIT_MS }, () => {
  it('a commit by a fence that is not exactly the stored one', async () => {
    const store = lax(async (memory, id, commit) => {
      const fence = Number((await memory.inspect(id)).facts.fence);
      return memory.commit(id, { ...commit, epoch: Math.min(commit.epoch, fence) });
    });
    expect(await seedThatFails({ store })).toBeDefined();
  });

  it('a commit at another position than the stored one', async () => {
    const store = lax(async (memory, id, commit) => {
      return memory.commit(id, { ...commit, from: (await memory.inspect(id)).position ?? 0 });
    });
    expect(await seedThatFails({ store })).toBeDefined();
  });

  it('publishing the stored outbox again at take-over', async () => {
    const store = (memory: MemoryStore): FactorStore =>
      new Proxy(memory, {
        get: (target, name) => {
          if (name !== 'takeOver') return Reflect.get(target, name).bind(target);
          return async (...args: Parameters<FactorStore['takeOver']>) => {
            return { ...(await target.takeOver(...args)), outbox: null };
          };
        },
      });
    expect(await seedThatFails({ store })).toBeDefined();
  });

  it('keeping in the outbox what Kafka has not acknowledged', async () => {
    const store = lax(async (memory, id, commit) => {
      const records = decodeOutbox(Buffer.from(commit.outbox));
      // Every commit ends with its factor batch.
      const former = records.slice(0, -1).findLastIndex(({ topic }) => /-factors$/.test(topic));
      return memory.commit(id, { ...commit, outbox: encodeOutbox(records.slice(former + 1)) });
    });
    expect(await seedThatFails({ store })).toBeDefined();
  });

  it('dropping what an item shard has already applied', async () => {
    expect(await seedThatFails({ reader: forgetful('item', /^source:/) })).toBeDefined();
  });

  it('the ordinal of a record within its fan-out', async () => {
    const reader = (side: Side, real: RecordReader): RecordReader => {
      if (side === 'user') return real;
      return {
        apply(shard, marks, record, batch) {
          const coarse = [...marks].map(([name, mark]): [string, string] => [
            name,
            name.startsWith('source:') ? `${mark.split(':')[0]}:1000000` : mark,
          ]);
          real.apply(shard, new Map(coarse), record, batch);
        },
      };
    };
    expect(await seedThatFails({ reader })).toBeDefined();
  });

  it('dropping a forwarded stray that came before', async () => {
    expect(await seedThatFails({ reader: forgetful('user', /^forwarded:/) })).toBeDefined();
  });

  it('remembering how far a user is forgotten', async () => {
    expect(await seedThatFails({ reader: forgetful('user', /^forgotten$/) })).toBeDefined();
  });
});

/** A reader that does not see some of the marks its shard keeps. */
function forgetful(of: Side, hidden: RegExp): NonNullable<Sabotage['reader']> {
  return (side, real) => {
    if (side !== of) return real;
    return {
      apply(shard, marks, record, batch) {
        const seen = [...marks].filter(([name]) => !hidden.test(name));
        real.apply(shard, new Map(seen), record, batch);
      },
    };
  };
}
