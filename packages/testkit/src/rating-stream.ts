/**
 * A stream of ratings whose outcome is known: the last rating of each user and item counts. The
 * ratings of one user are spread over all partitions, so they arrive in any order.
 */
import type { OutRecord, Publisher } from '@freshet/stream';
import { openPublisher, PARTITIONS } from './ratings-topic.ts';
import { type StoreSnapshot, violationsOf } from './store-snapshot.ts';
import type { System } from './system.ts';

/** Short enough that something is always on its way, long enough that the servers can rest. */
const PAUSE_MS = 30;
const ARRIVAL_LIMIT_MS = 60_000;
const USERS = 60;
const ITEMS = 31;

export class RatingStream {
  readonly #truth = new Map<string, number>();
  #produced = 0;

  private constructor(private readonly publisher: Publisher) {}

  static async open(system: System): Promise<RatingStream> {
    return new RatingStream(await openPublisher(system));
  }

  get produced(): number {
    return this.#produced;
  }

  async produce(count: number): Promise<void> {
    await this.publisher.publish(Array.from({ length: count }, () => this.#next()));
  }

  /** Produces for as long as `work` takes. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    let over = false;
    const streaming = (async () => {
      while (!over) {
        await this.produce(20);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    })();
    try {
      return await work();
    } finally {
      over = true;
      await streaming;
    }
  }

  /**
   * What is wrong with the store once everything has arrived; empty if every rating counted once on
   * both sides. A rating may still be in flight when the store is read, so it is read again for
   * some time. A rating that was lost or counted twice stays wrong. `mayRepeat`: the log may hold
   * ratings twice, since a producer sends again what was not acknowledged.
   */
  async violations(system: System, { mayRepeat = false } = {}): Promise<string[]> {
    const deadline = Date.now() + ARRIVAL_LIMIT_MS;
    for (;;) {
      const found = this.#compare(await system.snapshot(), mayRepeat);
      if (found.length === 0 || Date.now() > deadline) return found;
    }
  }

  #compare(snapshot: StoreSnapshot, mayRepeat: boolean): string[] {
    const expected = new Set([...this.#truth].map(([pair, value]) => `${pair} ${value}`));
    const found = violationsOf(snapshot, expected);
    const { applied } = snapshot;
    const isRight = mayRepeat ? applied >= this.#produced : applied === this.#produced;
    if (!isRight) found.push(`${applied} of ${this.#produced} were applied`);
    return found;
  }

  async close(): Promise<void> {
    await this.publisher.close();
  }

  #next(): OutRecord {
    const n = this.#produced++;
    const [user, item, value] = [`u${(n * 7) % USERS}`, `i${(n * 11) % ITEMS}`, 1 + (n % 5)];
    this.#truth.set(`${user} ${item}`, value);
    // The later time wins, even if the rating arrives earlier by another partition.
    const rating = { user, item, value, time: 1_700_000_000_000 + n };
    return {
      topic: 'ratings',
      partition: (n * 13) % PARTITIONS,
      key: item,
      value: Buffer.from(JSON.stringify(rating)),
    };
  }
}
