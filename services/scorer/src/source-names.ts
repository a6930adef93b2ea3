/**
 * Under which name do user shards keep how far they have applied a partition of a ratings topic? By the id of
 * the topic, so that offsets of one that was deleted are not taken for those of its successor.
 */
import { sourceName } from '@freshet/positions';
import type { TopicAdmin } from '@freshet/stream';
import { ServerAway } from '@freshet/telemetry';

/** Where a rating was produced; without a topic, in the one that ratings over HTTP are written to. */
export interface ProducedAt {
  readonly topic?: string;
  readonly partition: number;
  readonly offset: number;
}

/** The same as user shards know it. */
export interface RatingPlace extends Required<ProducedAt> {
  readonly source: string;
}

/** No ratings come from that topic: nobody can tell when one of it is applied. */
export class NoSource extends Error {
  override readonly name = 'NoSource';
}

/** How long an id counts: a topic is seldom deleted, and whoever waits for a rating of it may ask again. */
const KNOWN_MS = 10_000;

export class SourceNames {
  readonly #admin: Pick<TopicAdmin, 'exists' | 'topicId'>;
  /** The first is the one that ratings over HTTP are written to. */
  readonly #topics: readonly string[];
  readonly #ids = new Map<string, string>();
  #knownUntil = 0;
  #looking: Promise<void> | undefined;

  constructor(admin: Pick<TopicAdmin, 'exists' | 'topicId'>, topics: readonly string[]) {
    this.#admin = admin;
    this.#topics = topics;
  }

  /** Throws NoSource, or ServerAway while the topic cannot be found. */
  async find({
    topic = this.#topics[0] ?? '',
    partition,
    offset,
  }: ProducedAt): Promise<RatingPlace> {
    if (!this.#topics.includes(topic)) {
      throw new NoSource(`ratings come from ${this.#topics.join(', ')}, not from ${topic}`);
    }
    const isOld = performance.now() > this.#knownUntil;
    if (!this.#ids.has(topic)) await this.look();
    // In the background: while Kafka is away, what was known still holds.
    else if (isOld) this.look().catch(() => {});
    const id = this.#ids.get(topic);
    if (id === undefined) throw new ServerAway(`the topic ${topic} does not exist yet`);
    return { topic, partition, offset, source: sourceName(topic, id, partition) };
  }

  /** Asks for the ids; one question at a time, however many requests wait for it. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    for (const topic of this.#topics) {
      if (await this.#admin.exists(topic)) {
        this.#ids.set(topic, (await this.#admin.topicId(topic)) ?? topic);
      } else this.#ids.delete(topic);
    }
    this.#knownUntil = performance.now() + KNOWN_MS;
  }
}
