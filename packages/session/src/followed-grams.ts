/** The newest grams that the aggregator published; one in which a part goes back is refused. */
import { gramsCodec, isNewer, type PartVersion, topicName, type Version } from '@freshet/events';
import { Gram, type Grams } from '@freshet/model';
import { type LogRecord, Tail } from '@freshet/stream';
import type { FollowOptions } from './followed-replica.ts';

type GramsOptions = Pick<FollowOptions, 'kafka' | 'admin' | 'model' | 'log' | 'fail' | 'gatherMs'>;

export class FollowedGrams {
  #latest: Grams | undefined;
  readonly #parts = new Map<string, Version>();
  #tail: Tail | undefined;

  static async open(options: GramsOptions): Promise<FollowedGrams> {
    const followed = new FollowedGrams();
    const topic = topicName('grams', options.model);
    followed.#tail = await Tail.open(options.kafka, options.admin, {
      ...options,
      topic,
      // Compacted to one key: the last record is all there is to know.
      startAt: async (partition) => {
        const [ends, starts] = [await options.admin.ends(topic), await options.admin.starts(topic)];
        return Math.max((ends.get(partition) ?? 0) - 1, starts.get(partition) ?? 0);
      },
      receive: (_, records) => followed.#receive(records),
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

  #receive(records: readonly LogRecord[]): void {
    const newest = records.findLast(({ value }) => value !== null)?.value;
    if (!newest) return;
    const grams = gramsCodec.decode(newest);
    if (grams.parts.some((part) => this.#goesBack(part))) return;
    for (const part of grams.parts) this.#parts.set(keyOf(part), part);
    this.#latest = {
      user: Gram.fromBytes(grams.user, grams.factorCount),
      item: Gram.fromBytes(grams.item, grams.factorCount),
      ratings: grams.ratings,
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
