/** The newest grams that the aggregator published; one in which a part goes back is refused. */
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

type GramsOptions = Pick<
  FollowOptions,
  'kafka' | 'admin' | 'model' | 'shards' | 'factorCount' | 'log' | 'fail' | 'gatherMs'
>;

/** How many records before the end are looked at for the last one that makes sense. */
const LOOK_BACK = 100;

export class FollowedGrams {
  #latest: Grams | undefined;
  readonly #parts = new Map<string, Version>();
  readonly #events: InternalEvents<GramsEvent>;
  #tail: Tail | undefined;

  private constructor(events: InternalEvents<GramsEvent>) {
    this.#events = events;
  }

  static async open(options: GramsOptions): Promise<FollowedGrams> {
    const topic = topicName('grams', options.model);
    const decode = (value: Buffer) => readGrams(value, options);
    const followed = new FollowedGrams(new InternalEvents({ topic, log: options.log, decode }));
    followed.#tail = await Tail.open(options.kafka, options.admin, {
      ...options,
      topic,
      // Every record is the whole sum: the last of ours is all there is to know.
      startAt: async (partition) => {
        const { start, end } = (await options.admin.ranges(topic)).get(partition) ?? NOTHING;
        return Math.max(end - LOOK_BACK, start);
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
    // From the newest back: those before it are of no use, and decoding is not free.
    for (const record of records.toReversed()) {
      const grams = this.#events.read(partition, record);
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

const NOTHING = { start: 0, end: 0 } as const;

function keyOf({ side, shard }: PartVersion): string {
  return `${side}:${shard}`;
}
