/** Ratings that come over HTTP go to the ratings topic like any other; the answer tells where they lie. */
import { decodeRating, type RatingLimits, shardOf, topicName } from '@freshet/events';
import type { Publisher } from '@freshet/stream';

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
    const offsets = await this.#publisher.appendAll(records);
    return records.map(({ partition }, nth) => ({ partition, offset: offsets[nth] ?? Number.NaN }));
  }

  /** Every rating of the user goes, and every trace of them. */
  async forget(user: string): Promise<Place> {
    const record = this.#recordOf(user, null);
    const [offset = Number.NaN] = await this.#publisher.appendAll([record]);
    return { partition: record.partition, offset };
  }

  #recordOf(user: string, value: Buffer | null) {
    const partition = shardOf(user, this.#partitions);
    return { topic: this.#topic, partition, key: user, value };
  }
}
