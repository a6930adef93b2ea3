/**
 * Publishes the partial grams of the shards that have changed, all in one request: one request per
 * shard would cost more than the half-steps. A part is a whole sum with a version, so that loss and
 * repetition do no harm, and parts need not be in the outbox.
 */
import type { Publisher } from '@freshet/stream';
import { type Log, untilAnswered } from '@freshet/telemetry';
import type { OwnedShard } from './owned-shard.ts';

const INTERVAL_MS = 50;

export class GramPartPublisher {
  readonly #moved = new Set<OwnedShard>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(
    private readonly publisher: Pick<Publisher, 'publish'>,
    private readonly log: Pick<Log, 'warn'>,
    private readonly fail: (error: unknown) => void,
  ) {}

  /** The part of the shard's last commit is published within 50 ms. */
  moved(owned: OwnedShard): void {
    this.#moved.add(owned);
    this.#timer ??= setTimeout(() => this.#send(), INTERVAL_MS);
  }

  /** Another process owns the shard now, and publishes its newer parts. */
  released(owned: OwnedShard): void {
    this.#moved.delete(owned);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#sending;
  }

  #send(): void {
    const parts = [...this.#moved].map((owned) => owned.gramPart());
    this.#moved.clear();
    const attempts = { log: this.log, what: 'partial grams were not published' };
    this.#sending = untilAnswered(() => this.publisher.publish(parts), attempts).then(() => {
      this.#timer = undefined;
      if (this.#moved.size > 0) this.#timer = setTimeout(() => this.#send(), INTERVAL_MS);
    });
    this.#sending.catch(this.fail);
  }
}
