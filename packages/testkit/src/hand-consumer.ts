/** A Kafka consumer whose batches and events come from a test. */
type Listener = (event: { payload: object }) => void;
type EachBatch = (payload: object) => Promise<void>;

/** The events of a kafkajs consumer that a partition reader listens to. */
export const consumerEvents = {
  GROUP_JOIN: 'join',
  CRASH: 'crash',
  HEARTBEAT: 'beat',
  FETCH_START: 'fetch',
  FETCH: 'fetched',
  REBALANCING: 'rebalancing',
  END_BATCH_PROCESS: 'end',
} as const;

/** An offset that a reader has committed. */
interface CommittedByHand {
  readonly partition: number;
  readonly offset: string;
  readonly metadata?: string;
}

/** The part of a kafkajs consumer that a partition reader uses. */
export class HandConsumer {
  readonly events = consumerEvents;
  readonly listeners: [string, Listener][] = [];
  readonly seeks: number[] = [];
  isConnected = false;
  eachBatch: EachBatch = async () => {};
  on = (name: string, listener: Listener) => void this.listeners.push([name, listener]);
  connect = async () => {
    this.isConnected = true;
  };
  subscribe = async () => {};
  run = async ({ eachBatch }: { eachBatch: EachBatch }) => {
    this.eachBatch = eachBatch;
  };
  pause = () => {};
  resume = () => {};
  seek = ({ offset }: { offset: string }) => void this.seeks.push(Number(offset));
  readonly commits: CommittedByHand[][] = [];
  commitOffsets = async (offsets: CommittedByHand[]) => void this.commits.push(offsets);
  disconnect = async () => {
    this.isConnected = false;
  };

  say(event: string, payload: object = {}): void {
    for (const [name, listener] of this.listeners) if (name === event) listener({ payload });
  }

  join(partitions: number[]): void {
    this.say('join', { memberAssignment: { log: partitions } });
  }

  /** Delivers records at these offsets of partition 0. */
  async fetch(...offsets: number[]): Promise<void> {
    await this.hand(offsets.map((offset) => ({ offset: String(offset), timestamp: '0' })));
  }

  async hand(messages: { offset: string }[], highWatermark = 0): Promise<void> {
    this.say('fetched');
    const batch = {
      partition: 0,
      messages,
      highWatermark: String(highWatermark),
      firstOffset: () => messages[0]?.offset ?? null,
      lastOffset: () => messages.at(-1)?.offset,
    };
    await this.eachBatch({
      batch,
      resolveOffset: () => {},
      heartbeat: async () => {},
      isStale: () => false,
    });
  }
}
