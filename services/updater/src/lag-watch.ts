/** Measures lag: ratings produced and not yet applied, by partition, from Kafka's own end offsets. */
import type { Side } from '@freshet/events';
import type { PartitionReader, TopicAdmin } from '@freshet/stream';
import { type Log, metrics } from '@freshet/telemetry';

const INTERVAL_MS = 1_000;

export class LagWatch {
  #timer: NodeJS.Timeout;
  #closed = false;

  constructor(
    readonly side: Side,
    readonly reader: PartitionReader,
    readonly admin: TopicAdmin,
    readonly log: Log,
  ) {
    this.#timer = this.#schedule();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #schedule(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#measure()
        .catch((error: unknown) => this.log.warn({ err: error }, 'lag not measured'))
        .finally(() => {
          if (!this.#closed) this.#timer = this.#schedule();
        });
    }, INTERVAL_MS).unref();
  }

  async #measure(): Promise<void> {
    const ends = await this.admin.ends(this.reader.options.topic);
    for (const [partition, position] of this.reader.positions) {
      const lag = Math.max(0, (ends.get(partition) ?? position) - position);
      metrics.lag.set({ side: this.side, partition }, lag);
    }
  }
}
