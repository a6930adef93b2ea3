/**
 * Each guard here is one check of the services, with a sabotage that disables the check. The
 * services are not changed: the sabotage changes what they send or what they receive.
 */
import { gramPartCodec, itemRatingsCodec, type Side } from '@freshet/events';
import { ListedReplica } from '@freshet/replicas';
import type { FactorStore, MemoryStore, ShardFacts, SourceMark } from '@freshet/store';
import {
  decodeOutbox,
  encodeOutbox,
  LogFault,
  type LogRecord,
  type PartitionOwner,
} from '@freshet/stream';
import type { MemoryLog } from '@freshet/testkit';
import { acceptSource } from '../../packages/cli/src/sources/accept-source.ts';
import { reportSources } from '../../packages/cli/src/sources/source-report.ts';
import { bent, type Helper, type Sabotage } from './sabotage.ts';
import { MODEL, SHARDS, settings } from './simulated-model.ts';
import { calm, logLoss, storm, type Weather } from './weather.ts';

type CommitArgs = Parameters<FactorStore['commit']>;
type Sending = Parameters<NonNullable<Sabotage['intakePublisher']>>[0];

/**
 * A store with one check of its commit turned off: the commit is changed until the check passes.
 */
function lax(bend: (store: MemoryStore, ...args: CommitArgs) => ReturnType<FactorStore['commit']>) {
  return (store: MemoryStore): FactorStore =>
    bent<FactorStore>(store, { commit: (...args: CommitArgs) => bend(store, ...args) });
}

/** Shards of one side see other marks of their sources than the stored ones. */
function marked(of: Side, seen: (mark: SourceMark) => SourceMark): NonNullable<Sabotage['batch']> {
  return (side, batch) =>
    side === of ? bent(batch, { markOf: (source) => seen(batch.markOf(source)) }) : batch;
}

/** Shards of one side see other facts than the stored ones. */
function knowing(of: Side, facts: Partial<ShardFacts>): NonNullable<Sabotage['batch']> {
  return (side, batch) =>
    side === of ? bent(batch, { facts: { ...batch.facts, ...facts } }) : batch;
}

/** A store that answers a take-over with another state than the stored one. */
function telling(state: Partial<Awaited<ReturnType<FactorStore['takeOver']>>>, facts = {}) {
  return (memory: MemoryStore): FactorStore =>
    bent<FactorStore>(memory, {
      takeOver: async (...args) => {
        const real = await memory.takeOver(...args);
        return { ...real, ...state, facts: { ...real.facts, ...facts } };
      },
    });
}

/** A log whose start or end is not the real one, as if nobody checked it. */
function blind(range: Partial<{ start: number; end: number }>) {
  return (log: MemoryLog): MemoryLog =>
    bent(log, {
      ranges: async (topic: string) => {
        const ranges = [...(await log.ranges(topic))];
        return new Map(ranges.map(([at, known]) => [at, { ...known, ...range }]));
      },
    });
}

/** A broker that gives a recreated topic the id of the deleted one. */
function nameless(log: MemoryLog): MemoryLog {
  return bent(log, { topicId: async (topic: string) => log.idsOf(topic)[0] });
}

/** As `nameless`, and the log also seems to have no end. */
function endless(log: MemoryLog): MemoryLog {
  return bent(blind({ end: Number.POSITIVE_INFINITY })(log), {
    topicId: async (topic: string) => log.idsOf(topic)[0],
  });
}

/** A replica that does not load a shard again after a failed load. */
class HastyReplica extends ListedReplica {
  readonly #seen = new Set<string>();

  override receive(
    batch: Parameters<ListedReplica['receive']>[0],
  ): ReturnType<ListedReplica['receive']> {
    const version = `${batch.shard} ${batch.epoch} ${batch.sequence}`;
    if (this.#seen.has(version)) return 'known';
    this.#seen.add(version);
    return super.receive(batch);
  }
}

/** An aggregator that takes the last partial gram to arrive for the newest one. */
function timeless(aggregation: PartitionOwner): PartitionOwner {
  let epoch = 1_000_000;
  const newest = (record: LogRecord): LogRecord => {
    if (record.value === null) return record;
    const part = gramPartCodec.decode(record.value);
    return { ...record, value: gramPartCodec.encode({ ...part, epoch: ++epoch }) };
  };
  return bent(aggregation, {
    consume: (partition, records, next, heartbeat) =>
      aggregation.consume(partition, records.map(newest), next, heartbeat),
  });
}

/** Item shards that do not see in which life a user shard sent an entry. */
function immortal(side: Side, { value, ...record }: LogRecord): LogRecord {
  if (value === null || side === 'user') return { ...record, value };
  const event = itemRatingsCodec.decode(value);
  return { ...record, value: itemRatingsCodec.encode({ ...event, life: 0 }) };
}

async function untilSent(publisher: Sending, records: Parameters<Sending['publish']>[0]) {
  for (;;) {
    try {
      return await publisher.publish(records);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Several batches are in flight at once. Each arrives in the end, in any order. */
function unordered(publisher: Sending): Sending {
  return { publish: async (records) => void untilSent(publisher, records) };
}

/** Batches are sent in order, but nobody waits for the acknowledgement. */
function unacknowledged(publisher: Sending): Sending {
  let sending = Promise.resolve();
  return {
    publish: async (records) => {
      sending = sending.then(() => untilSent(publisher, records));
    },
  };
}

/** A stage that accepts a loss by itself instead of waiting for a person. */
function helpful(side: Side, stage: PartitionOwner, { memory, log }: Helper): PartitionOwner {
  const takeOver = async (partition: number): Promise<number> => {
    try {
      return await stage.takeOver(partition);
    } catch (error) {
      if (!(error instanceof LogFault && error.kind === 'store-lost')) throw error;
      const looked = { store: memory, admin: log, model: MODEL, shards: SHARDS, topics: [] };
      const found = (await reportSources(looked)).find(
        (each) => each.reader === side && each.partition === partition,
      );
      const { factorCount } = settings;
      const accepting = { publisher: log, model: MODEL, factorCount, now: () => new Date() };
      if (found !== undefined) await acceptSource({ store: memory, ...accepting }, found);
      return stage.takeOver(partition);
    }
  };
  return bent(stage, { takeOver });
}

export interface Guard {
  readonly sabotage: Sabotage;
  /** The weather in which a violation soon shows that the check is missing. */
  readonly weather: Weather;
  /**
   * A seed whose history showed it when this was written, if most do not. It is tried first; after
   * a change of the simulation the others are tried as well.
   */
  readonly likelySeed?: number;
}

/** Writers are replaced and the store loses writes, also while shards are being loaded. */
const confusion: Weather = { ...calm, slow: 0.5, storeBack: 0.35, replaced: 0.1, forgets: 0.12 };
/** The store loses what replicas hold, and loads fail. */
const failingLoads: Weather = { ...calm, scanBroken: 0.4, storeBack: 0.1, retention: 0.05 };
const moreCuts: Weather = { ...calm, slow: 0.9, cut: 0.3 };
const moreRecreations: Weather = { ...logLoss, recreated: 0.03 };
const slowSending: Weather = { ...calm, slow: 0.5, away: 0.1 };
const manyRebuilds: Weather = { ...calm, rebuilt: 0.04, cut: 0.06 };

/** By the name of the check that is taken away. */
export const guards = {
  exactFence: {
    weather: confusion,
    likelySeed: 33,
    sabotage: {
      store: lax(async (memory, id, commit) => {
        const { fence } = await memory.head(id);
        return memory.commit(id, { ...commit, epoch: fence ?? 0 });
      }),
    },
  },
  position: {
    weather: confusion,
    sabotage: {
      store: lax(async (memory, id, commit) => {
        return memory.commit(id, { ...commit, from: (await memory.head(id)).position ?? 0 });
      }),
    },
  },
  outboxReplay: { weather: storm, sabotage: { store: telling({ outbox: null }) } },
  outboxKept: {
    weather: storm,
    sabotage: {
      store: lax(async (memory, id, commit) => {
        const records = decodeOutbox(Buffer.from(commit.outbox));
        // Every commit ends with its factor batch.
        const former = records.slice(0, -1).findLastIndex(({ topic }) => /-factors$/.test(topic));
        return memory.commit(id, { ...commit, outbox: encodeOutbox(records.slice(former + 1)) });
      }),
    },
  },
  intakeOrder: { weather: slowSending, sabotage: { intakePublisher: unordered } },
  intakeAcknowledged: {
    weather: { ...slowSending, death: 0.01 },
    sabotage: { intakePublisher: unacknowledged },
  },
  userMarks: {
    weather: storm,
    sabotage: { batch: marked('user', (mark) => ({ ...mark, offset: -1, ordinal: -1 })) },
  },
  itemMarks: {
    weather: storm,
    sabotage: { batch: marked('item', (mark) => ({ ...mark, offset: -1, ordinal: -1 })) },
  },
  ordinals: {
    weather: storm,
    sabotage: { batch: marked('item', (mark) => ({ ...mark, ordinal: 1_000_000 })) },
  },
  progress: {
    weather: storm,
    sabotage: { store: telling({}, { progress: null }) },
    likelySeed: 31,
  },
  markers: { weather: calm, sabotage: { isDeafToMarkers: true } },
  loadUntilDone: { weather: failingLoads, sabotage: { replica: HastyReplica } },
  partVersions: { weather: storm, sabotage: { aggregation: timeless }, likelySeed: 12 },
  storeCheck: {
    weather: { ...calm, storeWiped: 0.02 },
    sabotage: { stage: (_, stage) => bent(stage, { isStored: async () => true }) },
    likelySeed: 20,
  },
  rebuildCheck: {
    weather: { ...calm, rebuilt: 0.02 },
    sabotage: { intake: (intake) => bent(intake, { isStored: async () => true }) },
  },
  holes: { weather: moreCuts, sabotage: { readerAdmin: blind({ start: 0 }) } },
  topicIds: {
    weather: moreRecreations,
    sabotage: { readerAdmin: nameless, ownerAdmin: nameless },
  },
  logEnd: {
    weather: moreRecreations,
    sabotage: { readerAdmin: endless, ownerAdmin: endless },
  },
  userLives: { weather: manyRebuilds, sabotage: { batch: knowing('user', { leastLife: 0 }) } },
  itemLives: { weather: manyRebuilds, sabotage: { batch: knowing('item', { leastLife: 0 }) } },
  sentLives: {
    weather: moreRecreations,
    sabotage: { record: immortal, batch: knowing('item', { leastLife: 0 }) },
  },
  wholeRebuild: {
    weather: { ...calm, storeWiped: 0.02, expired: 0.1 },
    sabotage: { stage: helpful },
  },
} satisfies Record<string, Guard>;

/** A commit that is sent again under another id, so that the store does not recognise it. */
export const anonymousCommits: Sabotage = {
  store: lax((memory, id, commit) => memory.commit(id, { ...commit, id: `${Math.random()}` })),
};
