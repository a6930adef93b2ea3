/**
 * The records that a shard has committed and Kafka has not acknowledged. They are sent in order,
 * with one request in flight, which has all that wait. With two in flight a retry could swap them,
 * and a reader that has seen the later one would drop the earlier as a repetition.
 */
import { type Side, topicName } from '@freshet/events';
import { type OutRecord, type Publisher, recordBytes } from '@freshet/stream';
import { type Log, metrics, untilAnswered, verdict } from '@freshet/telemetry';

interface OutgoingOptions {
  readonly side: Side;
  readonly model: string;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly log: Log;
  /** Called if records can never be sent: the process must end. */
  readonly fail: (error: unknown) => void;
}

/** What may be unacknowledged: every further commit writes all of it to its outbox. */
const limits = { commits: 16, bytes: 256 << 10 } as const;

export class Outgoing {
  /** One entry per commit, oldest first. */
  readonly #unacknowledged: (readonly OutRecord[])[] = [];
  #bytes = 0;
  /** Resolves when all records are acknowledged. */
  #sending: Promise<void> | undefined;
  /** Resolves when the request in flight is acknowledged. */
  #request: Promise<void> | undefined;

  constructor(private readonly options: OutgoingOptions) {}

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
    this.#sending.catch(this.options.fail);
  }

  /** Back-pressure: waits while too much is unacknowledged. Throws if sending has failed. */
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
    const { side, model, publisher, log } = this.options;
    const publish = () => publishOutbox(publisher, sent.flat(), model);
    const timer = metrics.publishDuration.startTimer({ side });
    await untilAnswered(publish, { log, what: 'a batch was not published' });
    timer();
    this.#unacknowledged.splice(0, sent.length);
    for (const records of sent) this.#bytes -= sizeOf(records);
  }
}

/**
 * Publishes the records of a commit. If Kafka refuses them as too large, the dead letters are sent
 * without their records: an operator may have set a lower limit for the dead-letter topic.
 */
export async function publishOutbox(
  publisher: Pick<Publisher, 'publish'>,
  records: readonly OutRecord[],
  model: string,
): Promise<void> {
  const letters = topicName('ratingsDeadLetter', model);
  try {
    await publisher.publish(records);
  } catch (error) {
    const hasLetters = records.some(({ topic }) => topic === letters);
    if (verdict(error) !== 'park' || !hasLetters) throw error;
    const bare = (record: OutRecord) => (record.topic === letters ? emptied(record) : record);
    await publisher.publish(records.map(bare));
  }
}

/** Keeps what an operator needs to find the record, and nothing of the record itself. */
function emptied({ topic, partition, headers = {} }: OutRecord): OutRecord {
  const ours = Object.entries(headers).filter(([name]) => name.startsWith('freshet-'));
  const cut = { 'freshet-cut': 'key value headers' };
  return {
    topic,
    ...(partition === undefined ? {} : { partition }),
    key: null,
    value: null,
    headers: { ...Object.fromEntries(ours), ...cut },
  };
}

function sizeOf(records: readonly OutRecord[]): number {
  return records.reduce((sum, record) => sum + recordBytes(record), 0);
}
