/**
 * What a shard has committed and Kafka has not acknowledged. Sent in order, one request after the
 * other, each with all that waits: if two were on their way at once, a retry could swap them, and a
 * reader that has seen the later one would take the earlier for a repetition.
 */
import type { Side } from '@freshet/events';
import type { OutRecord, Publisher } from '@freshet/stream';
import { metrics } from '@freshet/telemetry';

/** What may wait: all of it is in the outbox of every further commit. */
const limits = { commits: 16, bytes: 256 << 10 } as const;

export class Outgoing {
  readonly #side: Side;
  readonly #publisher: Pick<Publisher, 'publish'>;
  readonly #fail: (error: unknown) => void;
  /** By commit, oldest first. */
  readonly #unacknowledged: (readonly OutRecord[])[] = [];
  #bytes = 0;
  /** Until there is nothing left. */
  #sending: Promise<void> | undefined;
  /** Until the request that is on its way is acknowledged. */
  #request: Promise<void> | undefined;

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
    this.#bytes += sizeOf(records);
    if (this.#sending !== undefined) return;
    this.#sending = this.#send();
    this.#sending.catch(this.#fail);
  }

  /** Waits while too much is on its way; throws if sending has failed for good. */
  async room(): Promise<void> {
    while (this.#unacknowledged.length >= limits.commits || this.#bytes >= limits.bytes) {
      await this.#request;
    }
  }

  async drained(): Promise<void> {
    await this.#sending;
  }

  async #send(): Promise<void> {
    while (this.#unacknowledged.length > 0) {
      this.#request = this.#sendWaiting();
      await this.#request;
    }
    this.#sending = undefined;
  }

  async #sendWaiting(): Promise<void> {
    const sent = [...this.#unacknowledged];
    const timer = metrics.publishDuration.startTimer({ side: this.#side });
    await this.#publisher.publish(sent.flat());
    timer();
    this.#unacknowledged.splice(0, sent.length);
    for (const records of sent) this.#bytes -= sizeOf(records);
  }
}

function sizeOf(records: readonly OutRecord[]): number {
  return records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
}
