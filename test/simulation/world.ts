/**
 * The updater in a world without servers, where everything that can go wrong does, as a seed decides:
 * processes die at any commit or publication, replaced ones go on writing, the store goes back to an
 * earlier state, batches are cut anywhere. Only ports are faked; stage, judge and shard are the real ones.
 */
import { factorBatchCodec, type Side, sides, topicName } from '@freshet/events';
import { wasmKernels } from '@freshet/kernels';
import { defaultModel, Gram, type Grams, Random } from '@freshet/model';
import { Replica } from '@freshet/session';
import type { FactorStore, MemorySnapshot, MemoryStore } from '@freshet/store';
import type { OutRecord } from '@freshet/stream';
import { openLog } from '@freshet/telemetry';
import { MemoryLog } from '@freshet/testkit';
import { GramPartPublisher } from '../../services/updater/src/gram-part-publisher.ts';
import { ItemApplier } from '../../services/updater/src/item-applier.ts';
import type { RecordReader } from '../../services/updater/src/owned-shard.ts';
import { Stage } from '../../services/updater/src/stage.ts';
import { UserJudge } from '../../services/updater/src/user-judge.ts';

export const PARTITIONS = 2;
const MODEL = 'sim';
export const settings = { ...defaultModel, factorCount: 3, rowCap: 4 };
const log = openLog('simulation', 'silent');

/** How long a request may be on its way. */
const SLOW_TURNS = 4;

/** The end of a process. A RangeError because the stage retries whatever might be the network. */
class Crash extends RangeError {}

/** What may be taken away from the real thing, to see that its absence is noticed. */
export interface Sabotage {
  readonly store?: (store: MemoryStore) => FactorStore;
  readonly reader?: (side: Side, reader: RecordReader) => RecordReader;
}

/** The other side and the grams held still, so that a shard depends on its log alone. */
export interface Pinned {
  readonly grams: Grams;
  readonly vectors: Readonly<Record<Side, ReadonlyMap<string, Float32Array>>>;
}

interface Process {
  readonly stage: Stage;
  readonly side: Side;
  readonly replica: Replica;
  /** Next offset of each partition it believes to own. */
  readonly positions: Map<number, number>;
  readonly read: Map<number, number>;
}

export class World {
  readonly log = new MemoryLog(PARTITIONS);
  readonly #random: Random;
  readonly #store: FactorStore;
  readonly #memory: MemoryStore;
  readonly #sabotage: Sabotage;
  /** Who should own each side; replaced ones linger as zombies. */
  readonly #owners = new Map<Side, Process>();
  #zombies: Process[] = [];
  readonly #snapshots: MemorySnapshot[] = [];
  /** Chance that a port call ends the process; 0 once the world heals. */
  #danger = 0.04;
  readonly #grams: Grams;

  constructor(
    seed: number,
    memory: MemoryStore,
    sabotage: Sabotage = {},
    readonly pinned?: Pinned,
  ) {
    this.#random = new Random(seed);
    this.#memory = memory;
    this.#sabotage = sabotage;
    this.#store = this.#dangerous(sabotage.store?.(memory) ?? memory);
    const k = settings.factorCount;
    this.#grams = pinned?.grams ?? { user: Gram.zero(k), item: Gram.zero(k), ratings: 0 };
  }

  /** Takes one random action: work, a fault, or time passing for somebody replaced. */
  async step(): Promise<void> {
    const side = this.#pick(sides);
    // What is on its way to Kafka stays there until the world turns.
    if (this.#random.next() < 0.3) await turn();
    const chance = this.#random.next();
    if (chance < 0.05) this.#snapshots.push(this.#memory.snapshot());
    else if (chance < 0.08) this.#goBack();
    else if (chance < 0.11) this.#replace(side);
    else if (chance < 0.3 && this.#zombies.length > 0) await this.#work(this.#pick(this.#zombies));
    else await this.#work(this.#owners.get(side) ?? this.#replace(side));
  }

  /** No more faults: works until both sides have read everything. */
  async heal(): Promise<void> {
    this.#danger = 0;
    this.#zombies = [];
    for (const side of sides) this.#replace(side);
    for (let idle = 0; idle < 2; idle++) {
      for (const side of sides) {
        for (let partition = 0; partition < PARTITIONS; partition++) {
          if (await this.#work(this.#owners.get(side), partition)) idle = -1;
        }
      }
      // Whatever is on its way arrives.
      for (let n = 0; n < 2 * SLOW_TURNS; n++) await turn();
    }
  }

  async produce(record: Omit<OutRecord, 'topic'>): Promise<void> {
    await this.log.append({ ...record, topic: topicName('ratings', MODEL) });
  }

  #replace(side: Side): Process {
    const former = this.#owners.get(side);
    if (former) this.#zombies = [former, ...this.#zombies].slice(0, 2);
    const kernels = wasmKernels();
    const replica = new Replica(kernels, settings.factorCount, PARTITIONS);
    for (const [id, vector] of this.pinned?.vectors[facingOf(side)] ?? []) replica.set(id, vector);
    const limits = { valueMax: 100, schemaIds: [] };
    const forgetSlice = 2;
    const judge = new UserJudge({ model: MODEL, partitions: PARTITIONS, limits, forgetSlice });
    const reader: RecordReader = side === 'user' ? judge : new ItemApplier();
    const publisher = {
      append: (record: OutRecord) => this.log.append(record),
      publish: (records: readonly OutRecord[]) => this.#send(records),
    };
    const stage = new Stage({
      side,
      source: sourceOf(side),
      model: MODEL,
      settings,
      kernels,
      surroundings: { others: replica, grams: () => this.#grams },
      coalesce: side === 'item' && this.pinned === undefined && this.#random.next() < 0.5,
      reader: this.#sabotage.reader?.(side, reader) ?? reader,
      store: this.#store,
      publisher,
      gramParts: new GramPartPublisher(this.log, () => {}),
      admin: this.log,
      log,
      fail: () => {}, // the crash that caused it is already being handled
    });
    const process = { stage, side, replica, positions: new Map(), read: new Map() };
    this.#owners.set(side, process);
    return process;
  }

  /** Lets a process handle one batch of one partition. True if there was something to do. */
  async #work(
    process: Process | undefined,
    partition = this.#random.below(PARTITIONS),
  ): Promise<boolean> {
    if (process === undefined) return false;
    try {
      await this.#follow(process);
      const position = process.positions.get(partition);
      if (position === undefined) {
        process.positions.set(partition, await process.stage.takeOver(partition));
        return true;
      }
      const records = this.log.records(sourceOf(process.side), partition);
      const batch = records.slice(position, position + 1 + this.#random.below(6));
      if (batch.length === 0) return false;
      const next = position + batch.length;
      const applied = await process.stage.apply(partition, batch, next, async () => {});
      if (applied) process.positions.set(partition, next);
      else process.positions.delete(partition);
      return true;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      this.#zombies = this.#zombies.filter((each) => each !== process);
      if (this.#owners.get(process.side) === process) this.#owners.delete(process.side);
      return true;
    }
  }

  /** Brings the replica of the other side up to some point of its topic. */
  async #follow({ side, replica, read }: Process): Promise<void> {
    if (this.pinned) return;
    const topic = topicName(`${facingOf(side)}Factors`, MODEL);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const records = this.log.records(topic, partition);
      const from = read.get(partition) ?? records.length;
      const to = from + this.#random.below(records.length - from + 1);
      read.set(partition, to);
      for (const { value } of records.slice(from, to)) {
        if (value) replica.receive(factorBatchCodec.decode(value));
      }
    }
  }

  #goBack(): void {
    const snapshot = this.#snapshots.pop();
    if (snapshot) this.#memory.restore(snapshot);
  }

  /** A process may be gone, or replaced, by the time its request arrives. */
  async #send(records: readonly OutRecord[]): Promise<void> {
    for (let n = this.#random.below(SLOW_TURNS); n > 0; n--) await turn();
    for (const record of records) {
      this.#maybeCrash();
      await this.log.append(record);
      this.#maybeCrash();
    }
  }

  /** The store behind a process that may die before a commit arrives or before its answer does. */
  #dangerous(store: FactorStore): FactorStore {
    return new Proxy(store, {
      get: (target, name) => {
        if (name !== 'commit') return Reflect.get(target, name).bind(target);
        return async (...args: Parameters<FactorStore['commit']>) => {
          this.#maybeCrash();
          const verdict = await target.commit(...args);
          this.#maybeCrash();
          return verdict;
        };
      },
    });
  }

  #maybeCrash(): void {
    if (this.#random.next() < this.#danger) throw new Crash();
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#random.below(choices.length)] as T;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function facingOf(side: Side): Side {
  return side === 'user' ? 'item' : 'user';
}

export function sourceOf(side: Side): string {
  return topicName(side === 'user' ? 'ratings' : 'itemRatings', MODEL);
}
