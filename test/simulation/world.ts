/**
 * Freshet without servers, in a world whose faults a seed decides. The log, the store and Kafka's
 * consumer are simulated in memory; intake, readers, stages, replicas and the aggregator are the
 * real ones.
 */
import { topicName } from '@freshet/events';
import { firstTheta, Gram, type Grams, Random } from '@freshet/model';
import { FollowedGrams, type Replica } from '@freshet/replicas';
import type { MemoryStore } from '@freshet/store';
import type { LogRecord } from '@freshet/stream';
import { MemoryLog } from '@freshet/testkit';
import { Faults } from './faults.ts';
import { Lineage } from './lineage.ts';
import { Operator } from './operator.ts';
import type { Sabotage } from './sabotage.ts';
import { SimulatedConsumer } from './simulated-consumer.ts';
import {
  factorsOf,
  groupOf,
  log,
  logOf,
  MODEL,
  partitionsOf,
  partsTopic,
  SHARDS,
  settings,
  shards,
  sources,
} from './simulated-model.ts';
import {
  type Pinned,
  SimulatedAggregator,
  SimulatedIntake,
  SimulatedItems,
  type SimulatedProcess,
  SimulatedUsers,
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

const kinds = {
  intake: SimulatedIntake,
  users: SimulatedUsers,
  items: SimulatedItems,
  aggregator: SimulatedAggregator,
} as const;

type Role = keyof typeof kinds;

/** How long `heal` waits, in simulated time. */
const healing = {
  lookMs: 100,
  operatorMs: 1_000,
  stillMs: 2_500, // longer than any wait between two attempts
  limitMs: 120_000,
} as const;

export class World {
  readonly log = new MemoryLog(partitionsOf);
  readonly failures: unknown[] = [];
  readonly lineage: Lineage;
  readonly operator: Operator;
  readonly #random: Random;
  readonly #memory: MemoryStore;
  readonly #around: Surroundings;
  readonly #faults: Faults;
  #weather: Weather;
  readonly #roles: readonly Role[];
  /** The current process of each role; replaced processes go on as zombies. */
  readonly #processes = new Map<Role, SimulatedProcess>();
  #zombies: SimulatedProcess[] = [];
  #grams: FollowedGrams | undefined;

  private constructor(seed: number, memory: MemoryStore, options: WorldOptions) {
    this.#random = new Random(seed);
    this.#memory = memory;
    this.#weather = options.weather ?? storm;
    this.lineage = new Lineage(this.log);
    const seen = options.sabotage?.ownerAdmin?.(this.log);
    this.operator = new Operator(this.log, memory, this.lineage, seen);
    this.#faults = new Faults(this, memory, this.#random);
    const roles = Object.keys(kinds) as Role[];
    this.#roles = roles.filter((role) => role !== 'aggregator' || options.pinned === undefined);
    const k = settings.factorCount;
    const counts = { ratings: 0, values: 0, clock: 0, theta: firstTheta(settings.ranking) };
    const zero: Grams = { user: Gram.zero(k), item: Gram.zero(k), ...counts };
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
    await world.lineage.restart();
    if (options.pinned === undefined) world.#grams = await world.#followGrams();
    return world;
  }

  get weather(): Weather {
    return this.#weather;
  }

  /** The grams as a follower of the topic has them. */
  get grams(): Grams | undefined {
    return this.#grams?.latest;
  }

  /** The items as the user updater has them. */
  get replica(): Replica | undefined {
    const users = this.#processes.get('users');
    return users instanceof SimulatedUsers ? users.replica : undefined;
  }

  /** All records that an internal topic ever held, also those that were deleted with it. */
  everything(topic: string, partition: number): LogRecord[] {
    return this.log.idsOf(topic).flatMap((id) => this.log.recordsOf(id, partition));
  }

  /** How often a shard was taken over. */
  async takeOvers(): Promise<number> {
    return (await this.log.ends(topicName('claims', MODEL))).get(0) ?? 0;
  }

  get processes(): readonly SimulatedProcess[] {
    return [...this.#processes.values()];
  }

  /** One step: faults may happen, and time passes. */
  async step(): Promise<void> {
    this.#revive();
    await this.#faults.strike();
    await pass(20 * this.#random.below(5));
  }

  replaceSomebody(): void {
    this.#replace(this.#roles[this.#random.below(this.#roles.length)] as Role);
  }

  kill(role: Role): void {
    this.#processes.get(role)?.bury();
  }

  /**
   * Ends all faults, and lets time pass until everything is applied or nothing changes any more.
   */
  async heal(): Promise<void> {
    const mayReplace = this.#weather.replaced > 0;
    this.#weather = calm;
    for (const each of this.#zombies) each.bury();
    // Processes that are not replaced must recover by themselves.
    for (const role of this.#roles)
      if (mayReplace && this.#random.next() < 0.3) this.#replace(role);
    for (let still = 0, before = '', at = 0; still < healing.stillMs; at += healing.lookMs) {
      this.#revive();
      await pass(healing.lookMs);
      if (at % healing.operatorMs === 0) await this.operator.look();
      const now = await this.#state();
      still = now === before && (await this.#isDone()) ? still + healing.lookMs : 0;
      before = now;
      if (at > healing.limitMs) return;
    }
  }

  /** What is not finished yet, in words. */
  async unfinished(): Promise<string[]> {
    const found: string[] = [];
    for (const topic of Object.keys(sources)) {
      const committed = await this.log.committed(groupOf(topic), topic);
      for (const [partition, end] of await this.log.ends(topic)) {
        const at = committed.get(partition)?.offset;
        if (at !== end) found.push(`intake is at ${at} of ${end} in ${topic}/${partition}`);
      }
    }
    for (const { side, shard } of shards) {
      const end = (await this.log.ends(logOf[side])).get(shard);
      const { position } = await this.#memory.head({ side, shard });
      if ((position ?? 0) !== end) found.push(`${side} shard ${shard} is at ${position} of ${end}`);
    }
    for (const process of this.processes) {
      const reason = process.waitingFor;
      if (reason !== null) found.push(`waits for ${reason}`);
      if (process.consumers.some(({ isHung }) => isHung)) found.push('a consumer hangs');
    }
    return found;
  }

  async #isDone(): Promise<boolean> {
    return (await this.unfinished()).length === 0;
  }

  /**
   * Changes whenever anything moves. Grams are left out, since they are repeated also when nothing
   * changes.
   */
  async #state(): Promise<string> {
    const topics = [logOf.user, logOf.item, factorsOf('user'), factorsOf('item'), partsTopic];
    const ends = await Promise.all(topics.map(async (topic) => [...(await this.log.ends(topic))]));
    return JSON.stringify([ends, this.operator.accepted, this.operator.rebuilt]);
  }

  /** Starts dead processes again. */
  #revive(): void {
    for (const each of [...this.#zombies, ...this.processes]) if (each.isDead) each.bury();
    this.#zombies = this.#zombies.filter(({ isDead }) => !isDead);
    for (const role of this.#roles) {
      if (this.#processes.get(role)?.isDead ?? true) this.#start(role);
    }
  }

  #start(role: Role): void {
    this.#processes.set(role, new kinds[role](this.#around));
  }

  #replace(role: Role): void {
    const former = this.#processes.get(role);
    if (former === undefined) return;
    former.replace();
    const [third] = this.#zombies.slice(2);
    third?.bury();
    this.#zombies = [former, ...this.#zombies].slice(0, 3);
    this.#start(role);
  }

  #followGrams(): Promise<FollowedGrams> {
    const wire = new Wire(new Random(0), () => calm);
    const consumer = ({ groupId }: { groupId: string }) =>
      new SimulatedConsumer({ log: this.log, wire, groupId, tellsMarkers: true });
    return FollowedGrams.open({
      kafka: { consumer } as object as Parameters<typeof FollowedGrams.open>[0]['kafka'],
      admin: this.log as object as Parameters<typeof FollowedGrams.open>[0]['admin'],
      model: MODEL,
      shards: SHARDS,
      factorCount: settings.factorCount,
      log,
      fail: (error) => void this.failures.push(error),
    });
  }
}
