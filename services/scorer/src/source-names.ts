/**
 * Finds the name under which user shards keep how far they have applied a partition of a ratings
 * topic. The name has the id of the topic, so that a topic that was deleted and recreated is not
 * taken for the old one.
 */
import assert from 'node:assert';
import { sourceName } from '@freshet/positions';
import type { TopicAdmin } from '@freshet/stream';
import { ServerAway } from '@freshet/telemetry';

/** The place of a rating; without a topic, in the one to which ratings over HTTP are written. */
export interface ProducedAt {
  readonly topic?: string;
  readonly partition: number;
  readonly offset: number;
}

/** The place with the name that user shards use. */
export interface RatingPlace extends Required<ProducedAt> {
  readonly source: string;
}

/** The topic is not among RATINGS_TOPICS, so a rating in it is never applied. */
export class NoSource extends Error {
  override readonly name = 'NoSource';
}

/** How long an id is cached: topics are seldom recreated, and a client can repeat its request. */
const KNOWN_MS = 10_000;

export class SourceNames {
  readonly #admin: Pick<TopicAdmin, 'exists' | 'topicId'>;
  readonly #topics: readonly string[];
  /** The topic to which ratings over HTTP are written. */
  readonly #first: string;
  readonly #ids = new Map<string, string>();
  #knownUntil = 0;
  #looking: Promise<void> | undefined;

  constructor(admin: Pick<TopicAdmin, 'exists' | 'topicId'>, topics: readonly string[]) {
    this.#admin = admin;
    this.#topics = topics;
    const [first] = topics;
    assert(first !== undefined, 'RATINGS_TOPICS names a topic');
    this.#first = first;
  }

  /** Throws NoSource, or ServerAway while the topic cannot be found. */
  async find({ topic = this.#first, partition, offset }: ProducedAt): Promise<RatingPlace> {
    if (!this.#topics.includes(topic)) {
      throw new NoSource(`ratings come from ${this.#topics.join(', ')}, not from ${topic}`);
    }
    const isOld = performance.now() > this.#knownUntil;
    if (!this.#ids.has(topic)) await this.look();
    // In the background: while Kafka is down, the cached id is used.
    else if (isOld) this.look().catch(() => {});
    const id = this.#ids.get(topic);
    if (id === undefined) throw new ServerAway(`the topic ${topic} does not exist yet`);
    return { topic, partition, offset, source: sourceName(topic, id, partition) };
  }

  /** Reads the ids from Kafka. Requests that come meanwhile share the result. */
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
