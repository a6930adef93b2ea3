/** The newest grams of the aggregator. Grams in which the part of a shard is older are ignored. */
import assert from 'node:assert';
import {
  type GramsEvent,
  isNewer,
  type PartVersion,
  readGrams,
  topicName,
  type Version,
} from '@freshet/events';
import { Gram, type Grams } from '@freshet/model';
import { InternalEvents, type LogRecord, Tail } from '@freshet/stream';
import type { FollowOptions } from './followed-replica.ts';

type GramsOptions = Omit<FollowOptions, 'store' | 'moved'>;

/** How many of the last records are read to find one that decodes. */
const LOOK_BACK = 100;

export class FollowedGrams {
  #latest: Grams | undefined;
  readonly #parts = new Map<string, Version>();
  #tail: Tail | undefined;

  private constructor(private readonly events: InternalEvents<GramsEvent>) {}

  static async open(options: GramsOptions): Promise<FollowedGrams> {
    const topic = topicName('grams', options.model);
    const decode = (value: Buffer) => readGrams(value, options);
    const followed = new FollowedGrams(new InternalEvents({ topic, log: options.log, decode }));
    followed.#tail = await Tail.open(options.kafka, options.admin, {
      ...options,
      topic,
      // Every record holds the whole sum, so the last one that decodes is enough.
      startAt: async (partition) => {
        const range = (await options.admin.ranges(topic)).get(partition);
        assert(range !== undefined, `${topic} has one partition`);
        return Math.max(range.end - LOOK_BACK, range.start);
      },
      receive: (partition, records) => followed.#receive(partition, records),
    });
    return followed;
  }

  /** undefined until the aggregator has published once. */
  get latest(): Grams | undefined {
    return this.#latest;
  }

  async close(): Promise<void> {
    await this.#tail?.close();
  }

  #receive(partition: number, records: readonly LogRecord[]): void {
    // From the newest back, because only one is needed and decoding takes time.
    for (const record of records.toReversed()) {
      const grams = this.events.read(partition, record);
      if (grams !== undefined) return this.#take(grams);
    }
  }

  #take(grams: GramsEvent): void {
    if (grams.parts.some((part) => this.#goesBack(part))) return;
    for (const part of grams.parts) this.#parts.set(keyOf(part), part);
    this.#latest = {
      user: Gram.fromBytes(grams.user, grams.factorCount),
      item: Gram.fromBytes(grams.item, grams.factorCount),
      ratings: grams.ratings,
      values: grams.values,
      clock: grams.clock,
      theta: grams.theta,
    };
  }

  #goesBack(part: PartVersion): boolean {
    const known = this.#parts.get(keyOf(part));
    return known !== undefined && isNewer(known, part);
  }
}

function keyOf({ side, shard }: PartVersion): string {
  return `${side}:${shard}`;
}
