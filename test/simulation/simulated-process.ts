/** A process of the simulation: real services behind a wire, with consumers that the simulation makes. */
import { type Side, topicName } from '@freshet/events';
import { wasmKernels } from '@freshet/kernels';
import type { Grams, Random } from '@freshet/model';
import { FollowedReplica, ModelAgreement, Replica, updaterGroup } from '@freshet/session';
import type { FactorStore, MemoryStore } from '@freshet/store';
import { PartitionReader } from '@freshet/stream';
import { verdict } from '@freshet/telemetry';
import type { MemoryLog } from '@freshet/testkit';
import { Aggregation } from '../../services/aggregator/src/aggregation.ts';
import { GramPartPublisher } from '../../services/updater/src/gram-part-publisher.ts';
import { ItemApplier } from '../../services/updater/src/item-applier.ts';
import { Stage } from '../../services/updater/src/stage.ts';
import { UserJudge } from '../../services/updater/src/user-judge.ts';
import type { Sabotage } from './sabotage.ts';
import { SimulatedConsumer } from './simulated-consumer.ts';
import {
  agreement,
  facingOf,
  log,
  MODEL,
  PARTITIONS,
  settings,
  sourceOf,
} from './simulated-model.ts';
import type { Weather } from './weather.ts';
import { Wire } from './wire.ts';

/** The other side and the grams held still, so that a shard depends on its log alone. */
export interface Pinned {
  readonly grams: Grams;
  readonly vectors: Readonly<Record<Side, ReadonlyMap<string, Float32Array>>>;
}

/** What every process of a history shares. */
export interface Surroundings {
  readonly log: MemoryLog;
  readonly memory: MemoryStore;
  readonly random: Random;
  readonly weather: () => Weather;
  readonly sabotage: Sabotage;
  readonly pinned: Pinned | undefined;
  readonly grams: () => Grams;
  /** Told of what ends a process although nothing is wrong with it. */
  readonly failed: (error: unknown) => void;
}

type Kafka = ConstructorParameters<typeof PartitionReader>[0];
type Admin = Parameters<typeof FollowedReplica.open>[1]['admin'];

const SESSION_MS = 30_000;

export abstract class SimulatedProcess {
  readonly wire: Wire;
  readonly store: FactorStore;
  readonly kafka: Kafka;
  reader: PartitionReader | undefined;
  readonly #consumers: SimulatedConsumer[] = [];

  constructor(readonly around: Surroundings) {
    const { log, memory, random, weather, sabotage } = around;
    this.wire = new Wire(random, weather);
    this.store = this.wire.store(sabotage.store?.(memory) ?? memory);
    const consumer = ({ groupId }: { groupId: string }) => {
      const isSingle = /aggregator|observer/.test(groupId);
      const consumer = new SimulatedConsumer({
        log,
        wire: this.wire,
        groupId,
        partitions: isSingle ? [0] : Array.from({ length: PARTITIONS }, (_, at) => at),
        tellsMarkers: sabotage.isDeafToMarkers !== true,
      });
      this.#consumers.push(consumer);
      return consumer;
    };
    this.kafka = { consumer } as object as Kafka;
    // A service that cannot start ends, and is started again.
    this.start().catch((error: unknown) => {
      this.wire.isDead = true;
      if (verdict(error) !== 'retry') around.failed(error);
    });
  }

  protected abstract start(): Promise<void>;

  get isDead(): boolean {
    return this.wire.isDead;
  }

  /** What keeps it from being ready, or null. */
  get waitingFor(): string | null {
    return this.reader === undefined ? 'its start' : this.reader.waitingFor;
  }

  readonly fail = (error: unknown): void => {
    if (!this.isDead) this.around.failed(error);
    this.wire.isDead = true;
  };

  /** The group goes on without it; it may not know for a while. */
  replace(): void {
    for (const consumer of this.#consumers) consumer.isReplaced = true;
  }

  get consumers(): readonly SimulatedConsumer[] {
    return this.#consumers.filter(({ isAlive }) => isAlive);
  }

  protected admin(log = this.around.log): Admin {
    return this.wire.admin(log) as object as Admin;
  }
}

export class SimulatedUpdater extends SimulatedProcess {
  replica: Replica | undefined;
  readonly #kernels = wasmKernels();

  constructor(
    around: Surroundings,
    readonly side: Side,
  ) {
    super(around);
  }

  protected async start(): Promise<void> {
    // The side is not known while the constructor runs.
    await Promise.resolve();
    const { side, store, fail, around, wire } = this;
    const { sabotage } = around;
    const joined = { store, admin: this.admin(), model: MODEL, agreement, log };
    const agreed = await ModelAgreement.join(joined);
    const others = await this.#others();
    const publisher = wire.publisher(around.log);
    const groupId = updaterGroup(MODEL, side);
    const stage = new Stage({
      side,
      source: sourceOf(side),
      partitions: PARTITIONS,
      model: MODEL,
      settings,
      kernels: this.#kernels,
      surroundings: { others, grams: around.grams },
      coalesce: side === 'item' && around.pinned === undefined && around.random.next() < 0.5,
      reader: this.#recordReader(),
      store,
      publisher,
      gramParts: new GramPartPublisher(publisher, log, fail),
      admin: this.admin(sabotage.stageAdmin?.(around.log)),
      agreement: agreed,
      mayRebuildFromPart: sabotage.mayRebuildFromPart ?? false,
      log,
      fail,
    });
    const admin = this.admin(sabotage.readerAdmin?.(around.log));
    const reading = { groupId, topic: sourceOf(side), admin, log, fail, sessionMs: SESSION_MS };
    const owner = sabotage.stage?.(stage) ?? stage;
    this.reader = new PartitionReader(this.kafka, { ...reading, onLoss: 'hold' }, owner);
    await this.reader.start();
  }

  async #others(): Promise<Replica> {
    const { side, store, fail, kafka, around } = this;
    const facing = facingOf(side);
    const Kind = around.sabotage.replica ?? Replica;
    const replica = new Kind(this.#kernels, settings.factorCount, PARTITIONS);
    if (around.pinned) {
      for (const [id, vector] of around.pinned.vectors[facing]) replica.set(id, vector);
      return replica;
    }
    const { factorCount } = settings;
    const model = { model: MODEL, side: facing, partitions: PARTITIONS, factorCount };
    await FollowedReplica.open(replica, { kafka, admin: this.admin(), store, ...model, log, fail });
    this.replica = replica;
    return replica;
  }

  #recordReader() {
    const { side, around } = this;
    const limits = { valueMax: 100, schemaIds: [] };
    // A user who is half forgotten when the log loses the rest of it stays so: not asked here.
    const forgetSlice = around.weather().cut > 0 ? 1_000 : 1;
    const reader =
      side === 'user'
        ? new UserJudge({ model: MODEL, partitions: PARTITIONS, limits, forgetSlice })
        : new ItemApplier({ topic: sourceOf('item'), partitions: PARTITIONS, log });
    return around.sabotage.reader?.(side, reader) ?? reader;
  }
}

export class SimulatedAggregator extends SimulatedProcess {
  protected async start(): Promise<void> {
    const { store, fail, around, wire } = this;
    const topic = topicName('gramParts', MODEL);
    const shape = { partitions: PARTITIONS, factorCount: settings.factorCount };
    const publisher = wire.publisher(around.log);
    const parts = { model: MODEL, topic, ...shape, rho: settings.rho, publisher };
    const aggregation = new Aggregation({ ...parts, admin: this.admin(), store, log, fail });
    const groupId = `${MODEL}.aggregator`;
    const reading = { groupId, topic, admin: this.admin(), log, fail, sessionMs: SESSION_MS };
    const owner = around.sabotage.aggregation?.(aggregation) ?? aggregation;
    this.reader = new PartitionReader(this.kafka, { ...reading, onLoss: 'skip' }, owner);
    await this.reader.start();
  }
}
