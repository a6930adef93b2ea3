/**
 * Which ratings were acknowledged by Kafka and are not learnt yet? A user shard says how far it has
 * applied each partition of a source, in order; so the ratings of a shard and a partition wait in a
 * queue, and one look at the shard takes all from its front that were applied.
 */
interface Waiting {
  readonly offset: number;
  /** When the rating was due, in ms. */
  readonly dueAt: number;
}

export class RatingsInFlight {
  /** By shard and partition, in the order of the offsets. */
  readonly #queues = new Map<string, Waiting[]>();

  get count(): number {
    return [...this.#queues.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** When the oldest of them was due; undefined if there is none. */
  get oldest(): number | undefined {
    const first = [...this.#queues.values()].flatMap(([waiting]) => waiting?.dueAt ?? []);
    return first.length === 0 ? undefined : Math.min(...first);
  }

  /** Offsets of one shard and partition must come in their order. */
  add(shard: number, partition: number, rating: Waiting): void {
    const key = `${shard}/${partition}`;
    const queue = this.#queues.get(key);
    if (queue) queue.push(rating);
    else this.#queues.set(key, [rating]);
  }

  /** The shard has applied all of the partition up to this offset: when was that due? */
  applied(shard: number, partition: number, offset: number): number[] {
    const queue = this.#queues.get(`${shard}/${partition}`) ?? [];
    const left = queue.findIndex((rating) => rating.offset > offset);
    return queue.splice(0, left < 0 ? queue.length : left).map(({ dueAt }) => dueAt);
  }

  /** When all that still wait were due; nothing waits afterwards. */
  giveUp(): number[] {
    const left = [...this.#queues.values()].flat();
    this.#queues.clear();
    return left.map(({ dueAt }) => dueAt);
  }
}
