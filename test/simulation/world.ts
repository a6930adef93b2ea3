/**
 * Freshet in a world without servers, where everything that can go wrong does, as a seed decides. Log,
 * store and Kafka's consumer are in memory; readers, stages, replicas and the aggregator are the real ones.
 */
import { type Side, sides, topicName } from '@freshet/events';
import { Gram, type Grams, Random } from '@freshet/model';
import { FollowedGrams } from '@freshet/session';
import type { MemorySnapshot, MemoryStore } from '@freshet/store';
import type { OutRecord } from '@freshet/stream';
import { MemoryLog } from '@freshet/testkit';
import { Lineage } from './lineage.ts';
import { Operator } from './operator.ts';
import type { Sabotage } from './sabotage.ts';
import { SimulatedConsumer } from './simulated-consumer.ts';
import {
  factorsOf,
  log,
  MODEL,
  PARTITIONS,
  settings,
  shards,
  sourceOf,
} from './simulated-model.ts';
import {
  type Pinned,
  SimulatedAggregator,
  type SimulatedProcess,
  SimulatedUpdater,
  type Surroundings,
} from './simulated-process.ts';
import { pass } from './simulated-time.ts';
import { calm, storm, type Weather } from './weather.ts';
import { Wire } from './wire.ts';

export interface WorldOptions {
  readonly weather?: Weather;
  readonly sabotage?: Sabotage;
  readonly pinned?: Pinned;
}

interface Snapshot {
  readonly store: MemorySnapshot;
  readonly lineage: Lineage;
}

/** Every wait of the end, in time of the simulation. */
const healing = {
  lookMs: 100,
  operatorMs: 1_000,
  stillMs: 2_500, // longer than any wait between two attempts
  limitMs: 120_000,
} as const;

const RECREATION_MS = 5_000;

export class World {
  readonly log = new MemoryLog(PARTITIONS);
  readonly failures: unknown[] = [];
  readonly operator: Operator;
  readonly #random: Random;
  readonly #memory: MemoryStore;
  readonly #around: Surroundings;
  #weather: Weather;
  #lineage: Lineage;
  /** Who should own each side; replaced ones linger as zombies. */
  readonly #updaters = new Map<Side, SimulatedUpdater>();
  #aggregator: SimulatedAggregator | undefined;
  #zombies: SimulatedProcess[] = [];
  #snapshots: Snapshot[] = [];
  #grams: FollowedGrams | undefined;

  private constructor(seed: number, memory: MemoryStore, options: WorldOptions) {
    this.#random = new Random(seed);
    this.#memory = memory;
    this.#weather = options.weather ?? storm;
    this.#lineage = new Lineage(this.log);
    this.operator = new Operator(this.log, memory);
    const k = settings.factorCount;
    const zero: Grams = { user: Gram.zero(k), item: Gram.zero(k), ratings: 0 };
    this.#around = {
      log: this.log,
      memory,
      random: this.#random,
      weather: () => this.#weather,
      sabotage: options.sabotage ?? {},
      pinned: options.pinned,
      grams: () => options.pinned?.grams ?? this.#grams?.latest ?? zero,
      failed: (error) => void this.failures.push(error),
    };
  }

  static async begin(seed: number, memory: MemoryStore, options: WorldOptions): Promise<World> {
    const world = new World(seed, memory, options);
    world.#lineage = await Lineage.whole(world.log);
    if (options.pinned === undefined) world.#grams = await world.#followGrams();
    return world;
  }

  get weather(): Weather {
    return this.#weather;
  }

  get lineage(): Lineage {
    return this.#lineage;
  }

  /** The sum of all partial grams as whoever follows the topic has it. */
  get grams(): Grams | undefined {
    return this.#grams?.latest;
  }

  /** How often a shard was taken over. */
  async takeOvers(): Promise<number> {
    return (await this.log.ends(topicName('claims', MODEL))).get(0) ?? 0;
  }

  get updaters(): readonly SimulatedUpdater[] {
    return [...this.#updaters.values()];
  }

  /** Something may go wrong, and time passes. */
  async step(): Promise<void> {
    this.#revive();
    // Somebody's transaction ends, also one that left nothing here.
    if (this.#random.next() < 0.05) this.log.mark(sourceOf('user'), this.#random.below(PARTITIONS));
    await this.#maybe();
    await pass(20 * this.#random.below(5));
  }

  /** No more faults: time passes until everything is read, or nothing moves any more. */
  async heal(): Promise<void> {
    const mayReplace = this.#weather.replaced > 0;
    this.#weather = { ...calm, strays: this.#weather.strays };
    for (const each of this.#zombies) each.wire.isDead = true;
    // Whoever is still there must get well by itself.
    for (const side of sides) if (mayReplace && this.#random.next() < 0.3) this.#replace(side);
    for (let still = 0, before = '', at = 0; still < healing.stillMs; at += healing.lookMs) {
      this.#revive();
      await pass(healing.lookMs);
      if (at % healing.operatorMs === 0) await this.operator.acceptAll(this.#lineage);
      const now = await this.#state();
      still = now === before && (await this.#isDone()) ? still + healing.lookMs : 0;
      before = now;
      if (at > healing.limitMs) return;
    }
  }

  /** What has not come to its end, in words. */
  async unfinished(): Promise<string[]> {
    const found: string[] = [];
    for (const { side, shard } of shards) {
      const end = (await this.log.ends(sourceOf(side))).get(shard);
      const { position } = await this.#memory.inspect({ side, shard });
      if ((position ?? 0) !== end) found.push(`${side} shard ${shard} is at ${position} of ${end}`);
    }
    for (const process of [...this.#updaters.values(), this.#aggregator]) {
      const reason = process?.waitingFor ?? null;
      if (reason !== null) found.push(`waits for ${reason}`);
      if (process?.consumers.some(({ isHung }) => isHung)) found.push('a consumer hangs');
    }
    return found;
  }

  async produce(record: Omit<OutRecord, 'topic'>): Promise<void> {
    const topic = sourceOf('user');
    await this.log.append({ ...record, topic });
  }

  async #isDone(): Promise<boolean> {
    return (await this.unfinished()).length === 0;
  }

  /** Changes with whatever moves, but for the grams, which are repeated also when nothing does. */
  async #state(): Promise<string> {
    const topics = [...sides.flatMap((side) => [sourceOf(side), factorsOf(side)]), partsTopic];
    const ends = await Promise.all(topics.map(async (topic) => [...(await this.log.ends(topic))]));
    return JSON.stringify([ends, this.operator.accepted]);
  }

  async #maybe(): Promise<void> {
    const weather = this.#weather;
    const faults: [number, () => void | Promise<void>][] = [
      [weather.storeBack, () => this.#goBack()],
      [weather.replaced, () => void this.#replace(this.#pick(sides))],
      [weather.replaced, () => this.#replaceAggregator()],
      [weather.rebalanced, () => this.#disturb()],
      [weather.storeWiped, () => this.#wipe()],
      [weather.cut, () => this.#cutRatings()],
      [weather.retention, () => this.#cutInternal()],
      [weather.recreated, () => this.#recreate()],
      [weather.repeated, () => this.#repeatPart()],
      [weather.cut, () => this.operator.acceptAll(this.#lineage)],
    ];
    if (this.#random.next() < 2 * weather.storeBack) this.#remember();
    for (const [chance, act] of faults) if (this.#random.next() < chance) await act();
  }

  /** Who died is started again. */
  #revive(): void {
    this.#zombies = this.#zombies.filter(({ isDead }) => !isDead);
    for (const side of sides) {
      if (this.#updaters.get(side)?.isDead ?? true) {
        this.#updaters.set(side, new SimulatedUpdater(this.#around, side));
      }
    }
    if (this.#around.pinned === undefined && (this.#aggregator?.isDead ?? true)) {
      this.#aggregator = new SimulatedAggregator(this.#around);
    }
  }

  #replace(side: Side): void {
    this.#retire(this.#updaters.get(side));
    this.#updaters.set(side, new SimulatedUpdater(this.#around, side));
  }

  #replaceAggregator(): void {
    if (this.#aggregator === undefined) return;
    this.#retire(this.#aggregator);
    this.#aggregator = new SimulatedAggregator(this.#around);
  }

  #retire(process: SimulatedProcess | undefined): void {
    if (process === undefined) return;
    process.replace();
    const [third] = this.#zombies.slice(2);
    if (third) third.wire.isDead = true;
    this.#zombies = [process, ...this.#zombies].slice(0, 3);
  }

  #disturb(): void {
    const processes = [...this.#updaters.values(), this.#aggregator];
    const consumer = this.#pick(processes.flatMap((each) => each?.consumers ?? []));
    const chance = this.#random.next();
    if (chance < 0.4) consumer?.joinAgain();
    else if (chance < 0.7) consumer?.breakDown();
    else if (consumer) consumer.isHung = true;
  }

  #remember(): void {
    this.#snapshots.push({ store: this.#memory.snapshot(), lineage: this.#lineage.copy() });
  }

  #goBack(): void {
    const snapshot = this.#snapshots.pop();
    if (snapshot === undefined) return;
    this.#memory.restore(snapshot.store);
    this.#lineage = snapshot.lineage;
  }

  async #wipe(): Promise<void> {
    this.#memory.wipe();
    this.#snapshots = [];
    this.#lineage = await Lineage.whole(this.log);
  }

  async #cutRatings(): Promise<void> {
    const partition = this.#random.below(PARTITIONS);
    const topic = sourceOf('user');
    const { position } = await this.#memory.inspect({ side: 'user', shard: partition });
    const { start, end } = (await this.log.ranges(topic)).get(partition) ?? { start: 0, end: 0 };
    // A shard that holds nothing begins where its log does, and nobody calls that a loss.
    if (position === null) return;
    this.#snapshots = this.#snapshots.filter(({ store }) => {
      return store.get(`user:${partition}`)?.facts.position !== undefined;
    });
    // Either what was read long ago, or what nobody has read yet.
    const isRead = position >= end || this.#random.next() < 0.3;
    const [from, to] = isRead ? [start, Math.min(position, end)] : [Math.max(start, position), end];
    if (to > from) this.log.cut(topic, partition, from + 1 + this.#random.below(to - from));
  }

  /** Retention of topics that need not be kept: whoever follows them finds out by what is left. */
  async #cutInternal(): Promise<void> {
    const topic = this.#pick([...sides.map(factorsOf), partsTopic]);
    for (const [partition, { start, end }] of await this.log.ranges(topic)) {
      this.log.cut(topic, partition, Math.max(start, end - 1));
    }
  }

  async #recreate(): Promise<void> {
    for (let shard = 0; shard < PARTITIONS; shard++) {
      // A shard that holds nothing begins with whatever is there.
      if ((await this.#memory.inspect({ side: 'user', shard })).position === null) return;
    }
    this.log.recreate(sourceOf('user'));
    // What fills the new topic beyond the old position within seconds is applied before it is noticed.
    await pass(RECREATION_MS);
  }

  async #repeatPart(): Promise<void> {
    const parts = this.log.records(partsTopic, 0);
    const { key, value, headers } = this.#pick(parts) ?? {};
    if (value)
      await this.log.append({
        topic: partsTopic,
        key: key ?? null,
        value,
        headers: { ...headers },
      });
  }

  #followGrams(): Promise<FollowedGrams> {
    const wire = new Wire(new Random(0), () => calm);
    const partitions = [0];
    const consumer = ({ groupId }: { groupId: string }) =>
      new SimulatedConsumer({ log: this.log, wire, groupId, partitions, tellsMarkers: true });
    return FollowedGrams.open({
      kafka: { consumer } as object as Parameters<typeof FollowedGrams.open>[0]['kafka'],
      admin: this.log as object as Parameters<typeof FollowedGrams.open>[0]['admin'],
      model: MODEL,
      partitions: PARTITIONS,
      factorCount: settings.factorCount,
      log,
      fail: (error) => void this.failures.push(error),
    });
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#random.below(choices.length)] as T;
  }
}

const partsTopic = topicName('gramParts', MODEL);
