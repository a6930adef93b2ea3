/**
 * A process of the simulation: the real code of a service, with simulated consumers, behind a wire
 * that loses requests.
 */
import { RatingReader, type Side } from '@freshet/events';
import { wasmKernels } from '@freshet/kernels';
import type { Grams, Random } from '@freshet/model';
import { updaterGroup } from '@freshet/positions';
import { FollowedReplica, ListedReplica } from '@freshet/replicas';
import { ModelAgreement } from '@freshet/session';
import type { FactorStore, MemoryStore, ShardId, StoredVector } from '@freshet/store';
import { PartitionReader, type ReaderOptions } from '@freshet/stream';
import { verdict } from '@freshet/telemetry';
import type { MemoryLog } from '@freshet/testkit';
import { Aggregation } from '../../services/aggregator/src/aggregation.ts';
import { GramPartPublisher } from '../../services/updater/src/gram-part-publisher.ts';
import { Intake } from '../../services/updater/src/intake.ts';
import { ItemShard } from '../../services/updater/src/item-shard.ts';
import type { Shard } from '../../services/updater/src/shard.ts';
import { Stage, type StageOptions } from '../../services/updater/src/stage.ts';
import { UserShard } from '../../services/updater/src/user-shard.ts';
import { bent, type Sabotage } from './sabotage.ts';
import { SimulatedConsumer } from './simulated-consumer.ts';
import {
  agreement,
  groupOf,
  log,
  logOf,
  MODEL,
  partsTopic,
  SHARDS,
  settings,
  sources,
} from './simulated-model.ts';
import type { Weather } from './weather.ts';
import { Wire } from './wire.ts';

/** Fixed items and grams, so that a user depends on the log alone. */
export interface Pinned {
  readonly grams: Grams;
  readonly items: ReadonlyMap<string, StoredVector>;
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
  /** Called with an error that ends a process although no fault explains it. */
  readonly failed: (error: unknown) => void;
}

type Kafka = ConstructorParameters<typeof PartitionReader>[0];
type Admin = Parameters<typeof FollowedReplica.open>[1]['admin'];

/** One commit for each rating of a user who is forgotten, since any commit may fail. */
export const FORGET_SLICE = 1;

const SESSION_MS = 30_000;
/** How often a service renews its membership. */
const RENEW_MS = 1_500;
const INTAKE_COMMIT_MS = 200;

export abstract class SimulatedProcess {
  readonly wire: Wire;
  readonly store: FactorStore;
  readonly kafka: Kafka;
  /** What it reads, once it has started. */
  protected readers: readonly PartitionReader[] = [];
  readonly #consumers: SimulatedConsumer[] = [];
  readonly #clocks: (() => unknown)[] = [];

  constructor(readonly around: Surroundings) {
    const { log, memory, random, weather, sabotage } = around;
    this.wire = new Wire(random, weather);
    this.store = this.wire.store(sabotage.store?.(memory) ?? memory);
    const tellsMarkers = sabotage.isDeafToMarkers !== true;
    const consumer = ({ groupId }: { groupId: string }) => {
      const consumer = new SimulatedConsumer({ log, wire: this.wire, groupId, tellsMarkers });
      this.#consumers.push(consumer);
      return consumer;
    };
    this.kafka = { consumer } as object as Kafka;
    // After the constructor, when the fields of the subclass are set. A service that cannot start
    // ends, and is started again.
    Promise.resolve()
      .then(() => this.start())
      .catch((error: unknown) => {
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
    if (this.readers.length === 0) return 'its start';
    return this.readers.map(({ waitingFor }) => waitingFor).find((each) => each !== null) ?? null;
  }

  readonly fail = (error: unknown): void => {
    if (!this.isDead) this.around.failed(error);
    this.wire.isDead = true;
  };

  /** The group rebalances without this process, which may not know it for a while. */
  replace(): void {
    for (const consumer of this.#consumers) consumer.isReplaced = true;
  }

  /** The process is dead: stops its timers. */
  bury(): void {
    this.wire.isDead = true;
    for (const stop of this.#clocks) stop();
  }

  /**
   * Closes `clock` when the process is buried. The close is not awaited, since its last requests
   * are never answered.
   */
  protected stopsWithIt(clock: { close(): Promise<void> }): void {
    this.#clocks.push(() => void clock.close());
  }

  get consumers(): readonly SimulatedConsumer[] {
    return this.#consumers.filter(({ isAlive }) => isAlive);
  }

  protected admin(log = this.around.log): Admin {
    return this.wire.admin(log) as object as Admin;
  }

  protected ownerAdmin(): Admin {
    return this.admin(this.around.sabotage.ownerAdmin?.(this.around.log));
  }

  protected async join(): Promise<ModelAgreement> {
    const { store, fail } = this;
    const joining = { store, admin: this.admin(), model: MODEL, agreement, log };
    const agreed = await ModelAgreement.join(joining);
    const renewing = setInterval(() => {
      agreed.renew().catch((error: unknown) => {
        if (verdict(error) === 'stop') fail(error);
      });
    }, RENEW_MS);
    this.#clocks.push(() => clearInterval(renewing));
    return agreed;
  }

  protected async read(
    reading: Pick<ReaderOptions, 'topic' | 'groupId' | 'onLoss'> & Partial<ReaderOptions>,
    owner: ConstructorParameters<typeof PartitionReader>[2],
  ): Promise<PartitionReader> {
    const { fail, around } = this;
    const admin = this.admin(around.sabotage.readerAdmin?.(around.log));
    const options = { admin, log, fail, sessionMs: SESSION_MS, ...reading };
    const reader = new PartitionReader(this.kafka, options, owner);
    this.stopsWithIt(reader);
    await reader.start();
    return reader;
  }
}

export class SimulatedIntake extends SimulatedProcess {
  protected async start(): Promise<void> {
    const { store, around, wire } = this;
    const { sabotage } = around;
    const joined = await this.join();
    const reader = new RatingReader({ valueMax: 100, schemaIds: [] });
    const sending = wire.publisher(around.log);
    const publisher = sabotage.intakePublisher?.(sending) ?? sending;
    const parts = { model: MODEL, shards: SHARDS, reader, publisher, store, log };
    const readers: PartitionReader[] = [];
    for (const topic of Object.keys(sources)) {
      const admin = this.ownerAdmin();
      const intake = new Intake({ ...parts, admin, agreement: joined, topic });
      const owner = sabotage.intake?.(intake) ?? intake;
      const reading = { topic, groupId: groupOf(topic), commitMs: INTAKE_COMMIT_MS };
      readers.push(await this.read({ ...reading, onLoss: 'hold' }, owner));
    }
    this.readers = readers;
  }
}

abstract class SimulatedHalf extends SimulatedProcess {
  readonly #kernels = wasmKernels();

  protected get kernels() {
    return this.#kernels;
  }

  /** Runs a stage whose shards carry the sabotage. */
  protected async runStage(side: Side, shard: StageOptions['shard']): Promise<void> {
    const { store, fail, around, wire } = this;
    const { sabotage, random, memory } = around;
    const agreed = await this.join();
    const publisher = wire.publisher(around.log);
    // Often the cache holds nobody, so that every batch loads the users or items that it names.
    const cacheBytes = random.next() < 0.5 ? 0 : random.next() < 0.5 ? 1_500 : 1 << 20;
    const stage = new Stage({
      side,
      source: logOf[side],
      shards: SHARDS,
      factorCount: settings.factorCount,
      model: MODEL,
      shard: (id, sums) => this.#bent(side, shard(id, sums)),
      cacheBytes,
      store,
      publisher,
      gramParts: new GramPartPublisher(publisher, log, fail),
      admin: this.ownerAdmin(),
      agreement: agreed,
      log,
      fail,
    });
    const owner = sabotage.stage?.(side, stage, { memory, log: around.log }) ?? stage;
    const reading = { topic: logOf[side], groupId: updaterGroup(MODEL, side) };
    this.readers = [await this.read({ ...reading, onLoss: 'hold' }, owner)];
  }

  #bent(side: Side, shard: Shard): Shard {
    const { record: read = (_, record) => record, batch: see = (_, batch) => batch } =
      this.around.sabotage;
    const apply: Shard['apply'] = (record, batch) => {
      shard.apply(read(side, record), see(side, batch));
    };
    return bent(shard, { apply });
  }

  protected optionsOf(side: Side) {
    const { kernels, around } = this;
    const { grams } = around;
    const timed = () => {};
    return { topic: logOf[side], shards: SHARDS, settings, kernels, grams, log, timed };
  }
}

export class SimulatedUsers extends SimulatedHalf {
  replica: ListedReplica | undefined;

  protected async start(): Promise<void> {
    const items = await this.#items();
    // A user whose forgetting is under way when the log is recreated stays half forgotten. That
    // case is left out: one commit forgets a whole user.
    const forgetSlice = this.around.weather().recreated > 0 ? 1_000 : FORGET_SLICE;
    const options = { ...this.optionsOf('user'), items, forgetSlice };
    await this.runStage('user', (id: ShardId, sums) => {
      return new UserShard({ ...options, id }, sums);
    });
  }

  async #items(): Promise<ListedReplica> {
    const { store, fail, kafka, around, kernels } = this;
    const Kind = around.sabotage.replica ?? ListedReplica;
    const { factorCount } = settings;
    const replica = new Kind(kernels, factorCount, SHARDS);
    if (around.pinned) {
      for (const [id, { vector, figures, list }] of around.pinned.items) {
        replica.set(id, vector, figures, list);
      }
      return replica;
    }
    const model = { model: MODEL, shards: SHARDS, factorCount };
    const following = { kafka, admin: this.admin(), store, ...model, log, fail };
    this.stopsWithIt(await FollowedReplica.open(replica, following));
    this.replica = replica;
    return replica;
  }
}

export class SimulatedItems extends SimulatedHalf {
  protected async start(): Promise<void> {
    const { pinned, random } = this.around;
    const coalesce = pinned === undefined && random.next() < 0.5;
    const now = () => Date.now();
    const options = { ...this.optionsOf('item'), coalesce, now };
    await this.runStage('item', (id: ShardId, sums) => {
      return new ItemShard({ ...options, id }, sums);
    });
  }
}

export class SimulatedAggregator extends SimulatedProcess {
  protected async start(): Promise<void> {
    const { store, fail, around, wire } = this;
    const shape = { shards: SHARDS, factorCount: settings.factorCount };
    const publisher = wire.publisher(around.log);
    const parts = { model: MODEL, topic: partsTopic, ...shape, settings, publisher };
    const aggregation = new Aggregation({ ...parts, admin: this.admin(), store, log, fail });
    this.stopsWithIt(aggregation);
    const owner = around.sabotage.aggregation?.(aggregation) ?? aggregation;
    const reading = { groupId: `${MODEL}.aggregator`, topic: partsTopic };
    this.readers = [await this.read({ ...reading, onLoss: 'skip' }, owner)];
  }
}
