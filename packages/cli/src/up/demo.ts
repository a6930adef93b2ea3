/**
 * A stream to watch: a crowd of users with tastes rates generated items, and Ada, who likes one
 * category for a while and then another, asks for her list after each of her ratings.
 */
import assert from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';
import type { ScorerAddress } from '@freshet/config';
import { shardOf, topicName, topics } from '@freshet/events';
import { type CatalogueItem, generateCatalogue, generateRatings } from '@freshet/experiments';
import type { ClosingStack } from '@freshet/service';
import type { Brokers } from '@freshet/session';
import { type OutRecord, Publisher } from '@freshet/stream';
import { numberOption, partitionsOf } from '../operator-command.ts';
import { adasLikings, BACKLOG, world } from './ada.ts';
import { askScorer } from './ask-scorer.ts';

interface DemoOptions {
  readonly scorer: ScorerAddress;
  readonly ratingsPerSecond: number;
  readonly tell: (line: string) => void;
}

const HIGHEST_RATE = 100_000;
const TICK_MS = 100;
const ADA_MS = 3_000;
const SEEN_LIMIT_MS = 5_000;
const BACKLOG_SLICE = 2_000;
/** After this the crowd goes on, even if the system has not caught up. */
const CAUGHT_UP_LIMIT_MS = 10_000;
const CLOSE_LIMIT_MS = 1_000;

/** Generated ratings go to this topic only: any other topic holds real ratings. */
export const DEMO_TOPIC = topics.ratings.name;

export function rateOption(text: string): number {
  return numberOption('rate', text, { from: 0.001, to: HIGHEST_RATE });
}

type DemoSystem = Brokers & { readonly model: string };
type DemoRecord = OutRecord & { readonly partition: number; readonly key: string };

interface Sent {
  readonly user: string;
  /** TOPIC/PARTITION:OFFSET, as `after=` takes it. */
  readonly place: string;
}

export class Demo {
  readonly #items: readonly (CatalogueItem & { readonly slug: string })[];
  readonly #bySlug: ReadonlyMap<string, CatalogueItem>;
  readonly #byId: ReadonlyMap<string, string>;
  #stopped = false;
  /** Whether the backlog is learnt, in this run or an earlier one. */
  #hasHistory = false;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly system: DemoSystem,
    private readonly publisher: Publisher,
    private readonly partitions: number,
    private readonly options: DemoOptions,
  ) {
    this.#items = generateCatalogue(world).map((item) => ({ ...item, slug: slugOf(item) }));
    this.#bySlug = new Map(this.#items.map((item) => [item.slug, item]));
    this.#byId = new Map(this.#items.map((item) => [item.id, item.slug]));
  }

  /** `stack` closes it, before what it publishes with. */
  static async open(system: DemoSystem, stack: ClosingStack, options: DemoOptions): Promise<Demo> {
    const publisher = stack.own(await Publisher.open(system.kafka));
    const partitions = await partitionsOf(system.admin, DEMO_TOPIC);
    return stack.own(new Demo(system, publisher, partitions, options));
  }

  start(fail: (error: unknown) => void): void {
    this.#running = Promise.all([this.#titles(), this.#crowd(), this.#ada()]).catch(fail);
  }

  async close(): Promise<void> {
    this.#stopped = true;
    // If Kafka is away, a publish retries for half a minute, which is too long to wait for.
    await Promise.race([this.#running, pause(CLOSE_LIMIT_MS)]);
  }

  /** Publishes titles and categories at every start; in a compacted topic they replace the last. */
  async #titles(): Promise<void> {
    const topic = topicName('items', this.system.model);
    const records = this.#items.map(({ slug, title, categories }) => ({
      topic,
      partition: 0,
      key: slug,
      value: Buffer.from(JSON.stringify({ title, categories })),
    }));
    await this.publisher.publish(records);
  }

  /** Continues where the topic ends: the generator is seeded, and what was sent is skipped. */
  async #crowd(): Promise<void> {
    const { ratingsPerSecond } = this.options;
    const ends = await this.system.admin.ends(DEMO_TOPIC);
    let skip = [...ends.values()].reduce((sum, end) => sum + end, 0);
    let due = skip === 0 ? BACKLOG : 0;
    let pending: DemoRecord[] = [];
    for (const { user, item, value } of generateRatings(world)) {
      if (skip-- > 0) continue;
      const slug = this.#byId.get(item);
      assert(slug !== undefined, 'the crowd rates items of the catalogue');
      pending.push(this.#record(user, slug, value));
      while (pending.length >= due && !this.#stopped) {
        if (this.#hasHistory) await this.publisher.publish(pending);
        else await this.#beginWith(pending);
        due = Math.max(0, due - pending.length);
        pending = [];
        await pause(TICK_MS);
        due += (ratingsPerSecond * TICK_MS) / 1000;
        if (due >= 1) break;
      }
      if (this.#stopped) return;
    }
  }

  async #beginWith(records: readonly DemoRecord[]): Promise<void> {
    if (records.length === BACKLOG) {
      this.options.tell(`a crowd rates ${BACKLOG} times; ada begins when that is learnt`);
    }
    await this.#sendBacklog(records);
    this.#hasHistory = true;
  }

  /**
   * Sends a slice at a time, the next when the one before is learnt. If all came at once, users
   * would learn from item vectors that have learnt nothing yet, and the other way round.
   */
  async #sendBacklog(records: readonly DemoRecord[]): Promise<void> {
    for (let from = 0; from < records.length && !this.#stopped; from += BACKLOG_SLICE) {
      const slice = records.slice(from, from + BACKLOG_SLICE);
      // The last rating of each partition is sent alone, because only `append` returns an offset.
      const last = new Map(slice.map((record) => [record.partition, record]));
      await this.publisher.publish(slice.filter((record) => last.get(record.partition) !== record));
      const sent = await Promise.all([...last.values()].map((record) => this.#append(record)));
      await this.#caughtUp(sent);
    }
  }

  async #caughtUp(sent: readonly Sent[]): Promise<void> {
    const until = performance.now() + CAUGHT_UP_LIMIT_MS;
    for (const { user, place } of sent) {
      while (!this.#stopped && (await this.#ask(user, place)) === undefined) {
        if (performance.now() > until) return;
        await pause(TICK_MS);
      }
    }
  }

  async #ada(): Promise<void> {
    const { tell } = this.options;
    while (!this.#hasHistory && !this.#stopped) await pause(TICK_MS);
    if (!this.#stopped)
      tell('ada rates a film every 3 s; after → comes her new list, which follows what she likes');
    for (const { film, forgotten } of adasLikings(this.#items)) {
      if (this.#stopped) return;
      const { milliseconds, items } = await this.#rateAndAsk('ada', film.slug);
      const list = items.map(({ item }) => this.#show(item)).join(', ') || 'no answer yet';
      tell(`ada liked ${this.#show(film.slug)} → ${milliseconds} ms → ${list}`);
      if (forgotten) await this.publisher.publish([this.#record('ada', forgotten.slug, null)]);
      for (let waited = 0; waited < ADA_MS && !this.#stopped; waited += TICK_MS)
        await pause(TICK_MS);
    }
  }

  /** Rates an item, then asks until the answer takes the rating into account. */
  async #rateAndAsk(user: string, item: string) {
    const started = performance.now();
    const { place } = await this.#append(this.#record(user, item, 5));
    for (;;) {
      const answer = await this.#ask(user, place);
      const milliseconds = Math.round(performance.now() - started);
      if (answer !== undefined || this.#stopped || milliseconds > SEEN_LIMIT_MS) {
        return { milliseconds, items: answer?.items ?? [] };
      }
      await pause(5);
    }
  }

  #ask(user: string, after: string) {
    return askScorer(this.options.scorer, user, `n=3&after=${after}`);
  }

  async #append(record: DemoRecord): Promise<Sent> {
    const offset = await this.publisher.append(record);
    return { user: record.key, place: `${DEMO_TOPIC}/${record.partition}:${offset}` };
  }

  /** A value of null removes the rating. */
  #record(user: string, item: string, value: number | null): DemoRecord {
    return {
      topic: DEMO_TOPIC,
      partition: shardOf(user, this.partitions),
      key: user,
      value: Buffer.from(JSON.stringify({ user, item, value })),
    };
  }

  #show(slug: string): string {
    const item = this.#bySlug.get(slug);
    return item === undefined ? slug : `${item.title} (${item.categories[0]})`;
  }
}

function slugOf({ title, id }: CatalogueItem): string {
  const words = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return `${words}-${id}`;
}
