/**
 * Writes ratings that arrive over HTTP to a ratings topic, in the fields that RATING_FIELDS names,
 * and returns their partitions and offsets.
 */
import assert from 'node:assert';
import { type RatingFields, RatingReader, type RatingRules, shardOf } from '@freshet/events';
import type { Publisher, TopicAdmin } from '@freshet/stream';
import { ServerAway } from '@freshet/telemetry';

export interface GivenRating {
  readonly user: string;
  readonly item: string;
  /** null takes the rating back; absent means 1. */
  readonly value?: number | null;
  /** null or absent: the time at which Kafka gets the rating. */
  readonly time?: number | null;
}

interface Place {
  readonly partition: number;
  readonly offset: number;
}

interface RatingLogOptions {
  readonly publisher: Pick<Publisher, 'appendAll'>;
  readonly admin: Pick<TopicAdmin, 'ends'>;
  readonly topic: string;
  /** The rules by which intake reads the topic. */
  readonly rules: RatingRules;
}

type RatingRecord = Parameters<Publisher['appendAll']>[0][number];
type Written = Pick<RatingRecord, 'key' | 'value' | 'headers'>;
/** Of the records that a request writes: its traceparent. */
type Headers = Readonly<Record<string, string>>;

const APPEND_LIMIT_MS = 5_000;
/** How long the number of partitions is cached: new partitions are used after this time. */
const WIDTH_MS = 60_000;

export class RatingLog {
  readonly #options: RatingLogOptions;
  readonly #reader: RatingReader;
  #width: { readonly partitions: number; readonly until: number } | undefined;

  constructor(options: RatingLogOptions) {
    this.#options = options;
    this.#reader = new RatingReader(options.rules);
  }

  /** Sends ratings in order, in one request; sends none if intake would park one of them. */
  async rate(ratings: readonly GivenRating[], headers: Headers = {}): Promise<Place[]> {
    const written = ratings.map((rating) => {
      const value = Buffer.from(JSON.stringify(recordOf(rating, this.#options.rules.fields)));
      // Throws if intake would park the record.
      this.#reader.read({ key: null, value, timestamp: Date.now() });
      return { key: rating.user, value, headers };
    });
    return this.#append(written);
  }

  /** Removes all ratings of a user, and everything that is stored under the id. */
  async forget(user: string, headers: Headers = {}): Promise<Place> {
    const [place] = await this.#append([{ key: user, value: null, headers }]);
    assert(place !== undefined, 'one record has one place');
    return place;
  }

  /** Gives up after 5 s: Kafka's client retries for 30 s, which is too long for an HTTP client. */
  async #append(written: readonly Written[]): Promise<Place[]> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      const late = `Kafka did not take the ratings in ${APPEND_LIMIT_MS} ms; they may still arrive`;
      timer = setTimeout(() => reject(new ServerAway(late)), APPEND_LIMIT_MS);
    });
    try {
      return await Promise.race([this.#send(written), limit]);
    } catch (error) {
      // The topic may have been deleted, or recreated with fewer partitions.
      this.#width = undefined;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #send(written: readonly Written[]): Promise<Place[]> {
    const { publisher, topic } = this.#options;
    const partitions = await this.#partitions();
    // The partition that Kafka's own clients choose for the key.
    const records = written.map((record) => {
      return { topic, partition: shardOf(String(record.key), partitions), ...record };
    });
    const offsets = await publisher.appendAll(records);
    return records.map(({ partition }, nth) => ({ partition, offset: offsets[nth] as number }));
  }

  async #partitions(): Promise<number> {
    const now = performance.now();
    if (this.#width === undefined || now > this.#width.until) {
      const { admin, topic } = this.#options;
      const { size: partitions } = await admin.ends(topic);
      this.#width = { partitions, until: now + WIDTH_MS };
    }
    return this.#width.partitions;
  }
}

/** The rating as an object for JSON, with each field where intake looks for it. */
function recordOf(rating: GivenRating, fields: RatingFields = {}): object {
  const record: Record<string, unknown> = {};
  for (const name of ['user', 'item', 'value', 'time'] as const) {
    const given = rating[name];
    if (given === undefined || (name === 'time' && given === null)) continue;
    put(record, (fields[name] ?? name).split('.'), given);
  }
  return record;
}

function put(record: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [step = '', ...rest] = path;
  if (rest.length === 0) {
    record[step] = value;
    return;
  }
  const inner = (record[step] ?? {}) as Record<string, unknown>;
  record[step] = inner;
  put(inner, rest, value);
}
