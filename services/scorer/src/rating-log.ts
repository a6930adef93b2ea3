/**
 * Ratings that come over HTTP go to a ratings topic like any other, with their fields where RATING_FIELDS has
 * them; the answer tells where they lie.
 */
import { type RatingFields, RatingReader, type RatingRules, shardOf } from '@freshet/events';
import type { Publisher, TopicAdmin } from '@freshet/stream';
import { ServerAway } from '@freshet/telemetry';

export interface GivenRating {
  readonly user: string;
  readonly item: string;
  /** null takes the rating back; absent means 1. */
  readonly value?: number | null;
  readonly time?: number;
}

export interface Place {
  readonly partition: number;
  readonly offset: number;
}

interface RatingLogOptions {
  readonly publisher: Pick<Publisher, 'appendAll'>;
  readonly admin: Pick<TopicAdmin, 'ends'>;
  readonly topic: string;
  /** By which intake reads the topic. */
  readonly rules: RatingRules;
}

type RatingRecord = Parameters<Publisher['appendAll']>[0][number];

const APPEND_LIMIT_MS = 5_000;
/** How long the number of partitions counts: a topic that is widened is used as it was for a while. */
const WIDTH_MS = 60_000;

export class RatingLog {
  readonly #options: RatingLogOptions;
  readonly #reader: RatingReader;
  #width: { readonly partitions: number; readonly until: number } | undefined;

  constructor(options: RatingLogOptions) {
    this.#options = options;
    this.#reader = new RatingReader(options.rules);
  }

  /** In order and in one request; nothing is sent if one of them could never be applied. */
  async rate(ratings: readonly GivenRating[]): Promise<Place[]> {
    const written = ratings.map((rating) => {
      const value = Buffer.from(JSON.stringify(recordOf(rating, this.#options.rules.fields)));
      // As intake will read it: what it would park is refused here.
      this.#reader.read({ key: null, value, timestamp: Date.now() });
      return { key: rating.user, value };
    });
    return this.#append(written);
  }

  /** Every rating of the user goes, and whatever is kept under the user's name. */
  async forget(user: string): Promise<Place> {
    const [place] = await this.#append([{ key: user, value: null }]);
    return place ?? { partition: Number.NaN, offset: Number.NaN };
  }

  /** Kafka's client would try for half a minute: longer than whoever sends a rating should wait. */
  async #append(written: readonly Pick<RatingRecord, 'key' | 'value'>[]): Promise<Place[]> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      const message = `Kafka did not take the ratings in ${APPEND_LIMIT_MS} ms; they may still arrive`;
      timer = setTimeout(() => reject(new ServerAway(message)), APPEND_LIMIT_MS);
    });
    try {
      return await Promise.race([this.#send(written), limit]);
    } catch (error) {
      // The topic may have been deleted, or created anew with fewer partitions.
      this.#width = undefined;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #send(written: readonly Pick<RatingRecord, 'key' | 'value'>[]): Promise<Place[]> {
    const { publisher, topic } = this.#options;
    const partitions = await this.#partitions();
    // The partition that Kafka's own clients choose for the key.
    const records = written.map(({ key, value }) => {
      return { topic, partition: shardOf(String(key), partitions), key, value };
    });
    const offsets = await publisher.appendAll(records);
    return records.map(({ partition }, nth) => ({ partition, offset: offsets[nth] ?? Number.NaN }));
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

/** The rating as JSON's object, each field where the reader looks for it. */
function recordOf(rating: GivenRating, fields: RatingFields = {}): object {
  const record: Record<string, unknown> = {};
  for (const name of ['user', 'item', 'value', 'time'] as const) {
    if (rating[name] !== undefined) put(record, (fields[name] ?? name).split('.'), rating[name]);
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
