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

interface Queue {
  readonly waiting: Waiting[];
  /** How many at the front have left. */
  gone: number;
}

/** The front of a queue is cut off when so many have left: to cut it for each would be slow. */
const CUT_AT = 4_096;

export class RatingsInFlight {
  readonly #queues = new Map<string, Queue>();
  #count = 0;

  /** How many are acknowledged and not known to be applied. */
  get count(): number {
    return this.#count;
  }

  /** When the oldest of them was due; undefined if there is none. */
  get oldest(): number | undefined {
    const first = [...this.#queues.values()].flatMap(({ waiting, gone }) => waiting[gone] ?? []);
    return first.length === 0 ? undefined : Math.min(...first.map(({ dueAt }) => dueAt));
  }

  /** Offsets of one shard and partition must come in their order. */
  add(shard: number, partition: number, rating: Waiting): void {
    const key = `${shard}/${partition}`;
    const queue = this.#queues.get(key) ?? { waiting: [], gone: 0 };
    queue.waiting.push(rating);
    this.#queues.set(key, queue);
    this.#count++;
  }

  /** The shard has applied all of the partition up to this offset: when was that due? */
  applied(shard: number, partition: number, offset: number): number[] {
    const queue = this.#queues.get(`${shard}/${partition}`);
    if (queue === undefined) return [];
    const due: number[] = [];
    for (;;) {
      const next = queue.waiting[queue.gone];
      if (next === undefined || next.offset > offset) break;
      due.push(next.dueAt);
      queue.gone++;
    }
    if (queue.gone >= CUT_AT) {
      queue.waiting.splice(0, queue.gone);
      queue.gone = 0;
    }
    this.#count -= due.length;
    return due;
  }

  /** When all that still wait were due; nothing waits afterwards. */
  giveUp(): number[] {
    const left = [...this.#queues.values()].flatMap(({ waiting, gone }) => waiting.slice(gone));
    this.#queues.clear();
    this.#count = 0;
    return left.map(({ dueAt }) => dueAt);
  }
}
