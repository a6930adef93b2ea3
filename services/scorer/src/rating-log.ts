/** Ratings that come over HTTP go to the ratings topic like any other; the answer tells where they lie. */
import { decodeRating, type RatingLimits, shardOf, topicName } from '@freshet/events';
import type { Publisher } from '@freshet/stream';
import { ServerAway } from '@freshet/telemetry';

export interface RatingFields {
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

type RatingRecord = Parameters<Publisher['appendAll']>[0][number];

const APPEND_LIMIT_MS = 5_000;

export class RatingLog {
  readonly #publisher: Pick<Publisher, 'appendAll'>;
  readonly #topic: string;
  readonly #partitions: number;
  readonly #limits: RatingLimits;

  constructor(
    publisher: Pick<Publisher, 'appendAll'>,
    model: string,
    partitions: number,
    limits: RatingLimits,
  ) {
    this.#publisher = publisher;
    this.#topic = topicName('ratings', model);
    this.#partitions = partitions;
    this.#limits = limits;
  }

  /** In order and in one request; nothing is sent if one of them could never be applied. */
  async rate(ratings: readonly RatingFields[]): Promise<Place[]> {
    const records = ratings.map(({ user, item, value, time }) => {
      const bytes = Buffer.from(JSON.stringify({ user, item, value, time }));
      // As the updater will read it: what it would park is refused here.
      decodeRating({ key: null, value: bytes, timestamp: Date.now() }, this.#limits);
      return this.#recordOf(user, bytes);
    });
    const offsets = await this.#append(records);
    return records.map(({ partition }, nth) => ({ partition, offset: offsets[nth] ?? Number.NaN }));
  }

  /** Every rating of the user goes, and every trace of them. */
  async forget(user: string): Promise<Place> {
    const record = this.#recordOf(user, null);
    const [offset = Number.NaN] = await this.#append([record]);
    return { partition: record.partition, offset };
  }

  /** Kafka's client would try for half a minute: longer than whoever sends a rating should wait. */
  async #append(records: readonly RatingRecord[]): Promise<number[]> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      const message = `Kafka did not take the ratings in ${APPEND_LIMIT_MS} ms; they may still arrive`;
      timer = setTimeout(() => reject(new ServerAway(message)), APPEND_LIMIT_MS);
    });
    try {
      return await Promise.race([this.#publisher.appendAll(records), limit]);
    } finally {
      clearTimeout(timer);
    }
  }

  #recordOf(user: string, value: Buffer | null): RatingRecord {
    const partition = shardOf(user, this.#partitions);
    return { topic: this.#topic, partition, key: user, value };
  }
}
