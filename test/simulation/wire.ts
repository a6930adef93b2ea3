/**
 * The connection of one process to its servers. A request may be slow, may never arrive, or may
 * arrive and lose its answer. The process may die at any request: what it has sent still arrives,
 * and no answer ever returns.
 */
import type { Random } from '@freshet/model';
import { type FactorStore, StoreAway } from '@freshet/store';
import type { OutRecord } from '@freshet/stream';
import type { MemoryLog } from '@freshet/testkit';
import { turn } from './simulated-time.ts';
import type { Weather } from './weather.ts';

const SLOWEST_TURNS = 4;
const LONGEST_LOAD_TURNS = 12;
const LATEST_MS = 2_000;

type Log = Pick<
  MemoryLog,
  'ranges' | 'ends' | 'topicId' | 'committed' | 'peek' | 'exists' | 'deleteGroup' | 'append'
>;

export class Wire {
  isDead = false;

  constructor(
    readonly random: Random,
    readonly weather: () => Weather,
  ) {}

  async request<T>(act: () => Promise<T>, away: () => Error): Promise<T> {
    await this.#live();
    if (this.#happens('away')) throw away();
    const answer = await act();
    await this.arrive();
    if (this.#happens('away')) throw away();
    return answer;
  }

  /** The store as this process reaches it. */
  store(store: FactorStore): FactorStore {
    const vectors: FactorStore['vectors'] = (shard) => this.#scan(store, shard);
    return new Proxy(store, {
      get: (target, name) => {
        if (name === 'vectors') return vectors;
        const method = Reflect.get(target, name).bind(target);
        return async (...args: unknown[]) => {
          const answer = await this.request(() => method(...args), storeAway);
          if (name === 'load') await this.#wait(LONGEST_LOAD_TURNS);
          if (name === 'commit' && this.#happens('answerLost')) throw storeAway();
          return answer;
        };
      },
    });
  }

  /** What the brokers know, as this process learns it. */
  admin(log: Log): Log {
    return new Proxy(log, {
      get: (target, name) => {
        const method = Reflect.get(target, name).bind(target);
        return (...args: unknown[]) => this.request(() => method(...args), kafkaAway);
      },
    });
  }

  publisher(log: Log) {
    return {
      append: (record: OutRecord) => this.request(() => log.append(record), kafkaAway),
      publish: (records: readonly OutRecord[]) => this.#send(log, records),
    };
  }

  /** The process may die before it receives the answer. */
  async arrive(): Promise<void> {
    await this.#wait(SLOWEST_TURNS);
    await this.#live();
  }

  /** Some of the records may arrive although the request fails. */
  async #send(log: Log, records: readonly OutRecord[]): Promise<void> {
    await this.#live();
    await this.#wait(SLOWEST_TURNS);
    if (this.#happens('late')) {
      // The sender sees a time-out, but the records arrive later.
      setTimeout(() => void appendAll(log, records), this.random.below(LATEST_MS));
      throw kafkaAway();
    }
    for (const record of records) {
      if (this.#happens('away')) throw kafkaAway();
      await log.append(record);
      await this.#live();
    }
    await this.arrive();
    if (this.#happens('away')) throw kafkaAway();
  }

  async *#scan(store: FactorStore, shard: Parameters<FactorStore['vectors']>[0]) {
    await this.request(async () => {}, storeAway);
    for await (const found of store.vectors(shard)) {
      yield found;
      if (this.#happens('scanBroken')) throw storeAway();
    }
  }

  async #wait(turns: number): Promise<void> {
    if (!this.#happens('slow')) return;
    for (let n = this.random.below(turns); n >= 0; n--) await turn();
  }

  async #live(): Promise<void> {
    if (this.#happens('death')) this.isDead = true;
    if (this.isDead) await new Promise<never>(() => {});
  }

  #happens(what: 'death' | 'away' | 'answerLost' | 'late' | 'slow' | 'scanBroken'): boolean {
    return this.random.next() < this.weather()[what];
  }
}

async function appendAll(log: Log, records: readonly OutRecord[]): Promise<void> {
  for (const record of records) await log.append(record);
}

function storeAway(): StoreAway {
  return new StoreAway('the store did not answer');
}

export function kafkaAway(): Error {
  const error = new Error('Kafka did not answer');
  return Object.assign(error, { name: 'KafkaJSConnectionError', retriable: true });
}
