/**
 * What a shard has committed and Kafka has not acknowledged. Sent in order, one request after the
 * other, each with all that waits: if two were on their way at once, a retry could swap them, and a
 * reader that has seen the later one would take the earlier for a repetition.
 */
import type { Side } from '@freshet/events';
import type { OutRecord, Publisher } from '@freshet/stream';
import { metrics } from '@freshet/telemetry';

/** Commits whose records may wait: each is in the outbox again until they are acknowledged. */
const COMMITS = 3;

export class Outgoing {
  readonly #side: Side;
  readonly #publisher: Pick<Publisher, 'publish'>;
  readonly #fail: (error: unknown) => void;
  /** By commit, oldest first. */
  readonly #unacknowledged: (readonly OutRecord[])[] = [];
  #sending: Promise<void> | undefined;

  constructor(side: Side, publisher: Pick<Publisher, 'publish'>, fail: (error: unknown) => void) {
    this.#side = side;
    this.#publisher = publisher;
    this.#fail = fail;
  }

  get isEmpty(): boolean {
    return this.#unacknowledged.length === 0;
  }

  get records(): readonly OutRecord[] {
    return this.#unacknowledged.flat();
  }

  add(records: readonly OutRecord[]): void {
    this.#unacknowledged.push(records);
    if (this.#sending !== undefined) return;
    this.#sending = this.#send();
    this.#sending.catch(this.#fail);
  }

  /** Waits while too much is on its way; throws if sending has failed for good. */
  async room(): Promise<void> {
    if (this.#unacknowledged.length >= COMMITS) await this.#sending;
  }

  async drained(): Promise<void> {
    await this.#sending;
  }

  async #send(): Promise<void> {
    while (this.#unacknowledged.length > 0) {
      const count = this.#unacknowledged.length;
      const timer = metrics.publishDuration.startTimer({ side: this.#side });
      await this.#publisher.publish(this.#unacknowledged.flat());
      timer();
      this.#unacknowledged.splice(0, count);
    }
    this.#sending = undefined;
  }
}
