/**
 * A stream to watch: a generated catalogue, a crowd with tastes that rates it, and Ada, who likes
 * one category for a while and then another. After each of her ratings her list is asked for again.
 */
import { shardOf, topicName, topics } from '@freshet/events';
import { type CatalogueItem, generateCatalogue, generateRatings } from '@freshet/experiments';
import type { OutRecord, Publisher, TopicAdmin } from '@freshet/stream';

export interface DemoOptions {
  readonly publisher: Publisher;
  readonly admin: TopicAdmin;
  readonly model: string;
  /** Partitions of the topic that the ratings go to. */
  readonly partitions: number;
  readonly scorerUrl: string;
  readonly token: string;
  readonly ratingsPerSecond: number;
  readonly tell: (line: string) => void;
}

const world = {
  users: 125_000,
  items: 300,
  ratings: 5_000_000,
  seed: 7,
  concurrency: 200,
} as const;
/** Enough for the first list to make sense; sent at once when the topic is empty. */
const BACKLOG = 40_000;
const TICK_MS = 100;
const ADA_MS = 3_000;
const ADA_KEEPS_A_TASTE = 8;
const SEEN_LIMIT_MS = 5_000;
/** Longer than a scorer waits for a rating that it is to know of (AFTER_MS). */
const ASK_LIMIT_MS = 2_000;
const CLOSE_LIMIT_MS = 1_000;

/** Generated ratings go here and nowhere else: any other topic is somebody's own. */
export const DEMO_TOPIC = topics.ratings.name;

interface Answer {
  readonly items: readonly { readonly item: string; readonly score: number }[];
}

export class Demo {
  readonly #options: DemoOptions;
  readonly #items: readonly (CatalogueItem & { readonly slug: string })[];
  readonly #bySlug: ReadonlyMap<string, CatalogueItem>;
  readonly #byId: ReadonlyMap<string, string>;
  #stopped = false;
  #backlogSent = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: DemoOptions) {
    this.#options = options;
    const { items, seed } = world;
    this.#items = generateCatalogue({ items, seed }).map((item) => ({
      ...item,
      slug: slugOf(item),
    }));
    this.#bySlug = new Map(this.#items.map((item) => [item.slug, item]));
    this.#byId = new Map(this.#items.map((item) => [item.id, item.slug]));
  }

  start(fail: (error: unknown) => void): void {
    this.#running = Promise.all([this.#titles(), this.#crowd(), this.#ada()]).catch(fail);
  }

  async close(): Promise<void> {
    this.#stopped = true;
    // If Kafka is gone, a publish goes on trying for half a minute: nobody waits for that.
    await Promise.race([this.#running, pause(CLOSE_LIMIT_MS)]);
  }

  /** What the items are called; said at every start, for the topic keeps the last word only. */
  async #titles(): Promise<void> {
    const { publisher, model } = this.#options;
    const topic = topicName('items', model);
    const records = this.#items.map(({ slug, title, categories }) => ({
      topic,
      partition: 0,
      key: slug,
      value: Buffer.from(JSON.stringify({ title, categories })),
    }));
    await publisher.publish(records);
  }

  /** Goes on where the topic ends: the generator is seeded, so what was sent is skipped. */
  async #crowd(): Promise<void> {
    const { publisher, admin, ratingsPerSecond } = this.#options;
    const ends = await admin.ends(DEMO_TOPIC);
    let skip = [...ends.values()].reduce((sum, end) => sum + end, 0);
    let due = skip === 0 ? BACKLOG : 0;
    let pending: OutRecord[] = [];
    for (const { user, item, value } of generateRatings(world)) {
      if (skip-- > 0) continue;
      pending.push(this.#record(user, this.#byId.get(item) ?? item, value));
      while (pending.length >= due && !this.#stopped) {
        await publisher.publish(pending);
        this.#backlogSent = true;
        due = Math.max(0, due - pending.length);
        pending = [];
        await pause(TICK_MS);
        due += (ratingsPerSecond * TICK_MS) / 1000;
        if (due >= 1) break;
      }
      if (this.#stopped) return;
    }
  }

  async #ada(): Promise<void> {
    const { tell } = this.#options;
    const favourites = [...new Set(this.#items.map(({ categories }) => categories[0] ?? ''))];
    while (!this.#backlogSent && !this.#stopped) await pause(TICK_MS);
    for (let turn = 0; !this.#stopped; turn++) {
      const taste = favourites[Math.floor(turn / ADA_KEEPS_A_TASTE) % favourites.length] ?? '';
      const likes = this.#items.filter(({ categories }) => categories[0] === taste);
      const choice = likes[turn % likes.length];
      if (choice === undefined) return;
      const { milliseconds, items } = await this.#rateAndAsk('ada', choice.slug);
      const list = items.map(({ item }) => this.#show(item)).join(', ') || 'no answer yet';
      tell(`ada liked ${this.#show(choice.slug)} → ${milliseconds} ms → ${list}`);
      for (let waited = 0; waited < ADA_MS && !this.#stopped; waited += TICK_MS)
        await pause(TICK_MS);
    }
  }

  /** Rates, then asks until the answer knows of the rating. */
  async #rateAndAsk(user: string, item: string) {
    const started = performance.now();
    const record = this.#record(user, item, 5);
    const offset = await this.#options.publisher.append(record);
    for (;;) {
      const answer = await this.#ask(user, `${DEMO_TOPIC}/${record.partition}:${offset}`);
      const milliseconds = Math.round(performance.now() - started);
      if (answer !== undefined || this.#stopped || milliseconds > SEEN_LIMIT_MS) {
        return { milliseconds, items: answer?.items ?? [] };
      }
      await pause(5);
    }
  }

  /** undefined while the scorer cannot answer: the rating is not applied yet, or it is about to start again. */
  async #ask(user: string, after: string): Promise<Answer | undefined> {
    const { scorerUrl, token } = this.#options;
    const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
    const url = `${scorerUrl}/v1/recommendations/${user}?n=3&after=${after}`;
    try {
      const response = await fetch(url, { headers, signal: AbortSignal.timeout(ASK_LIMIT_MS) });
      return response.ok ? ((await response.json()) as Answer) : undefined;
    } catch {
      return undefined;
    }
  }

  #record(user: string, item: string, value: number): OutRecord & { partition: number } {
    return {
      topic: DEMO_TOPIC,
      partition: shardOf(user, this.#options.partitions),
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

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
