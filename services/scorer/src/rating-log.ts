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
  readonly #publisher: Pick<Publisher, 'append'>;
  readonly #topic: string;
  readonly #partitions: number;
  readonly #limits: RatingLimits;

  constructor(
    publisher: Pick<Publisher, 'append'>,
    model: string,
    partitions: number,
    limits: RatingLimits,
  ) {
    this.#publisher = publisher;
    this.#topic = topicName('ratings', model);
    this.#partitions = partitions;
    this.#limits = limits;
  }

  /** In order; nothing is sent if one of them could never be applied. */
  async rate(ratings: readonly RatingFields[]): Promise<Place[]> {
    const records = ratings.map(({ user, item, value, time }) => {
      const text = JSON.stringify({ user, item, value, time });
      const bytes = Buffer.from(text);
      // As the updater will read it: what it would park is refused here.
      decodeRating({ key: null, value: bytes, timestamp: Date.now() }, this.#limits);
      return { user, bytes };
    });
    return Promise.all(records.map(({ user, bytes }) => this.#append(user, bytes)));
  }

  /** Every rating of the user goes, and every trace of them. */
  forget(user: string): Promise<Place> {
    return this.#append(user, null);
  }

  async #append(user: string, value: Buffer | null): Promise<Place> {
    const partition = shardOf(user, this.#partitions);
    const record = { topic: this.#topic, partition, key: user, value };
    return { partition, offset: await this.#publisher.append(record) };
  }
}
