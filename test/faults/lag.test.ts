/**
 * The lag that the aggregator shows against the truth: what was produced, by the producer's own
 * count, less what the store has applied, read by a client that shares no code with the services.
 */

import { createConnection, type Socket } from 'node:net';
import { type AnyServiceName, serviceNames } from '@freshet/local';
import type { Publisher } from '@freshet/stream';
import { type LabelSet, MetricsPage } from '@freshet/telemetry';
import { eventually, openPublisher, ratingsRecord, System } from '@freshet/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const SHARDS = 4;
const BACKLOG = 15_000;
/** Ratings in a batch: the two sides of a count may differ by one batch. */
const BATCH = 1_000;
/**
 * With 20 more ratings before each look, the lag stays in the part of the curve where the expected
 * loss rises.
 */
const LOOKS = 25;

let system: System;
let publisher: Publisher;
let redis: PlainRedis;
/** Ratings that were sent, and those of them that Kafka has acknowledged. */
let produced = 0;
let acknowledged = 0;

beforeAll(async () => {
  system = await System.start();
  redis = new PlainRedis(system.redisUrl);
  publisher = await openPublisher(system);
});

afterAll(async () => {
  redis?.close();
  await publisher?.close();
  await system?.close();
});

/** Ratings of so many users and items, each on its user's partition. */
async function produce(count: number, users = 60, items = 31): Promise<void> {
  const records = Array.from({ length: count }, () => {
    const n = produced++;
    const rating = {
      user: `u${(n * 7) % users}`,
      item: `i${(n * 11) % items}`,
      value: 1 + (n % 5),
    };
    return ratingsRecord({ user: rating.user, value: rating });
  });
  await publisher.publish(records);
  acknowledged = produced;
}

async function noLag(): Promise<void> {
  await eventually('everything to be applied', async () => (await scrape()).sum(...ITEM) === 0);
}

/** On a busy machine the servers may not answer the aggregator in time: then nothing is shown. */
async function answeredScrape(): Promise<MetricsPage> {
  return eventually('a scrape with a lag', async () => {
    const page = await scrape();
    return !Number.isNaN(page.sum(...USER)) && page;
  });
}

async function whileStopped(name: 'updater' | 'Redis', work: () => Promise<void>): Promise<void> {
  system.child(name).signal('SIGSTOP');
  try {
    await work();
  } finally {
    system.child(name).signal('SIGCONT');
  }
}

describe('the lag metric', () => {
  it('is the number of ratings not yet applied, within one batch, at every scrape', async () => {
    // A backlog that is much larger than the tolerated error, and that drains while more ratings
    // come.
    await whileStopped('updater', () => produce(BACKLOG));
    const seen: Comparison[] = [];
    do {
      seen.push(await compare());
      await produce(20);
    } while ((seen.at(-1)?.item.shown ?? 0) > BATCH || seen.length < 40);
    expect(seen.filter(({ user }) => user.shown > BATCH).length).toBeGreaterThan(5);
    for (const { user, item } of seen) {
      expect(user.shown).toBeGreaterThanOrEqual(user.least);
      expect(user.shown).toBeLessThanOrEqual(user.most);
      expect(item.shown).toBeGreaterThanOrEqual(item.least - BATCH);
      expect(item.shown).toBeLessThanOrEqual(item.most + BATCH);
      expect(item.shown).toBeGreaterThanOrEqual(user.shown);
    }
    // Intake commits its offsets a moment after everything is applied.
    await eventually('no lag anywhere', async () => {
      const lags = (await scrape()).series('freshet_lag_ratings');
      return lags.length >= 3 * SHARDS && lags.every(({ value }) => value === 0);
    });
  });

  it('rises with the expected loss at every scrape while the updater stands still, and falls back', async () => {
    const LOSS: Metric = ['freshet_expected_auc_loss_ratio', { users: 'all' }];
    const AGE: Metric = ['freshet_lag_seconds', { point: 'user_applied' }];
    const seen: MetricsPage[] = [];
    await noLag();
    await whileStopped('updater', async () => {
      for (let look = 0; look <= LOOKS; look++) {
        if (look > 0) await produce(20);
        seen.push(await answeredScrape());
      }
    });
    const of = (metric: Metric) => seen.map((page) => page.sum(...metric));
    expect(of(USER)).toEqual(seen.map((_, look) => 20 * look));
    expect(rises(of(LOSS))).toBe(true);
    // The first scrape with a lag does not know since when ratings wait.
    expect(rises(of(AGE).slice(1))).toBe(true);
    expect(of(LOSS).at(-1)).toBeGreaterThan(0.05);

    await eventually('the lag to fall back', async () => {
      const page = await scrape();
      return [USER, ITEM, LOSS, AGE].every((metric) => page.sum(...metric) === 0);
    });
  });

  it('is not a number while the store is away, and the scrape is answered all the same', async () => {
    await whileStopped('Redis', async () => {
      const page = await scrape();
      expect(page.sum(...USER)).toBeNaN();
      expect(page.sum('freshet_aggregator_active')).toBe(1);
    });
    await eventually('the lag to be known again', async () => (await scrape()).sum(...USER) === 0);
  });
});

describe('the number of series', () => {
  it('is the same however many users and items there are', async () => {
    const series = async (): Promise<string[]> => {
      const found = await Promise.all(serviceNames.map((name) => scrape(name)));
      return found
        .flatMap((page) => page.all())
        .filter(({ name }) => name.startsWith('freshet_'))
        .map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`);
    };
    const before = await series();
    await produce(2_000, 2_000, 2_000);
    await eventually('all of them to be counted', async () => {
      return (await system.metric('aggregator', 'freshet_entities')) >= 4_000;
    });
    expect(await series()).toEqual(before);
  });
});

type Metric = readonly [name: string, labels: LabelSet];
const USER: Metric = ['freshet_lag_ratings_all', { point: 'user_applied' }];
const ITEM: Metric = ['freshet_lag_ratings_all', { point: 'item_applied' }];

function rises(values: readonly number[]): boolean {
  return values.every((value, at) => at === 0 || value > (values[at - 1] ?? Number.NaN));
}

function scrape(name: AnyServiceName = 'aggregator'): Promise<MetricsPage> {
  return MetricsPage.scrape(system.adminPort(name));
}

/** What a scrape shows, and between which bounds the truth was while it was made. */
interface Bounds {
  readonly shown: number;
  readonly least: number;
  readonly most: number;
}
type Comparison = Readonly<Record<'user' | 'item', Bounds>>;

async function compare(): Promise<Comparison> {
  // Ratings are produced during the scrape, so the bounds must hold at any moment of it.
  const producing = produce(20);
  const [from, before] = [acknowledged, await redis.counts()];
  const page = await scrape();
  const [after, to] = [await redis.counts(), produced];
  await producing;
  const user = { least: from - after.applied, most: to - before.applied };
  return {
    user: { shown: page.sum(...USER), ...user },
    item: {
      shown: page.sum(...ITEM),
      least: user.least + before.sent - after.received,
      most: user.most + after.sent - before.received,
    },
  };
}

/** Reads Redis hashes over a plain socket, without any code of the services. */
class PlainRedis {
  readonly #socket: Socket;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#socket = createConnection(Number(port), hostname).setEncoding('utf8');
  }

  close(): void {
    this.#socket.destroy();
  }

  /**
   * Ratings that user shards applied and sent on, and that item shards applied, over all shards.
   */
  async counts(): Promise<Record<'applied' | 'sent' | 'received', number>> {
    const counts = { applied: 0, sent: 0, received: 0 };
    for (const side of ['u', 'i']) {
      for (let shard = 0; shard < SHARDS; shard++) {
        const meta = new Map(await this.#hash(`default:{${side}:${shard}}:meta`));
        const { sources = {}, sent = {} } = JSON.parse(meta.get('facts') ?? '{}');
        for (const [, , , count] of Object.values<number[]>(sources)) {
          counts[side === 'u' ? 'applied' : 'received'] += count ?? 0;
        }
        for (const [count] of Object.values<number[]>(sent)) counts.sent += count ?? 0;
      }
    }
    return counts;
  }

  async #hash(key: string): Promise<[string, string][]> {
    this.#socket.write(`HGETALL ${key}\r\n`);
    let reply = '';
    for (;;) {
      reply += await new Promise<string>((resolve) => this.#socket.once('data', resolve));
      const [, length] = /^\*(\d+)\r\n/.exec(reply) ?? [];
      const found = [...reply.matchAll(/\$\d+\r\n([^\r]*)\r\n/g)].map(([, text = '']) => text);
      if (length === undefined || found.length < Number(length)) continue;
      return found.flatMap((name, at) => (at % 2 === 0 ? [[name, found[at + 1] ?? '']] : []));
    }
  }
}
