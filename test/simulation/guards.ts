/** One check of the real thing taken away each, from outside: what is asked or answered is bent. */
import { gramPartCodec, itemRatingsCodec, type Side } from '@freshet/events';
import { Replica } from '@freshet/session';
import type { FactorStore, MemoryStore } from '@freshet/store';
import { decodeOutbox, encodeOutbox, type LogRecord, type PartitionOwner } from '@freshet/stream';
import type { MemoryLog } from '@freshet/testkit';
import type { RecordReader } from '../../services/updater/src/owned-shard.ts';
import { bent, type Sabotage } from './sabotage.ts';
import { calm, logLoss, storm, type Weather } from './weather.ts';

type CommitArgs = Parameters<FactorStore['commit']>;

/** A store with one check of its commit turned off: what is asked of it is bent until it passes. */
function lax(bend: (store: MemoryStore, ...args: CommitArgs) => ReturnType<FactorStore['commit']>) {
  return (store: MemoryStore): FactorStore =>
    bent<FactorStore>(store, { commit: (...args: CommitArgs) => bend(store, ...args) });
}

/** A reader that does not see some of the marks its shard keeps. */
function forgetful(of: Side, hidden: RegExp): NonNullable<Sabotage['reader']> {
  return onSide(of, (marks) => [...marks].filter(([name]) => !hidden.test(name)));
}

function onSide(
  of: Side,
  seen: (marks: ReadonlyMap<string, string>) => [string, string][],
  read: (record: LogRecord) => LogRecord = (record) => record,
): NonNullable<Sabotage['reader']> {
  return (side, real): RecordReader => {
    if (side !== of) return real;
    return {
      apply: (shard, marks, record, batch) =>
        real.apply(shard, new Map(seen(marks)), read(record), batch),
    };
  };
}

/** The log as somebody sees it who does not look at its start, or its end. */
function blind(range: Partial<{ start: number; end: number }>) {
  return (log: MemoryLog): MemoryLog =>
    bent(log, {
      ranges: async (topic: string) => {
        const ranges = [...(await log.ranges(topic))];
        return new Map(ranges.map(([at, known]) => [at, { ...known, ...range }]));
      },
    });
}

/** A broker too old to tell one topic from another of the same name. */
function nameless(log: MemoryLog): MemoryLog {
  return bent(log, { topicId: (async () => undefined) as () => Promise<never> });
}

/** Nor where the log ends. */
function endless(log: MemoryLog): MemoryLog {
  return nameless(blind({ end: Number.POSITIVE_INFINITY })(log));
}

/** A replica that does not ask again for what it asked for once. */
class HastyReplica extends Replica {
  readonly #seen = new Set<string>();

  override receive(batch: Parameters<Replica['receive']>[0]): ReturnType<Replica['receive']> {
    const version = `${batch.shard} ${batch.epoch} ${batch.sequence}`;
    if (this.#seen.has(version)) return 'known';
    this.#seen.add(version);
    return super.receive(batch);
  }
}

/** Whatever comes last is the newest. */
function timeless(aggregation: PartitionOwner): PartitionOwner {
  let epoch = 1_000_000;
  const newest = (record: LogRecord): LogRecord => {
    if (record.value === null) return record;
    const part = gramPartCodec.decode(record.value);
    return { ...record, value: gramPartCodec.encode({ ...part, epoch: ++epoch }) };
  };
  return bent(aggregation, {
    apply: (partition, records, next, heartbeat) =>
      aggregation.apply(partition, records.map(newest), next, heartbeat),
  });
}

/** Every life of a source is the same. */
function immortal({ value, ...record }: LogRecord): LogRecord {
  if (value === null) return { ...record, value };
  return {
    ...record,
    value: itemRatingsCodec.encode({ ...itemRatingsCodec.decode(value), life: 0 }),
  };
}

export interface Guard {
  readonly sabotage: Sabotage;
  /** In which its absence soon shows. */
  readonly weather: Weather;
}

/** Writers are replaced and the store goes back, while shards are being loaded too. */
const confusion: Weather = {
  ...calm,
  slow: 0.5,
  storeBack: 0.35,
  replaced: 0.1,
  forgets: 0.12,
};
/** What replicas hold is no longer stored, and loads fail. */
const failingLoads: Weather = { ...calm, scanBroken: 0.4, storeBack: 0.1, retention: 0.05 };
const moreCuts: Weather = { ...logLoss, cut: 0.06, storeWiped: 0.02 };

/** By the check that is taken away. */
export const guards = {
  exactFence: {
    weather: confusion,
    sabotage: {
      store: lax(async (memory, id, commit) => {
        const fence = Number((await memory.inspect(id)).facts.fence);
        return memory.commit(id, { ...commit, epoch: fence });
      }),
    },
  },
  position: {
    weather: confusion,
    sabotage: {
      store: lax(async (memory, id, commit) => {
        return memory.commit(id, { ...commit, from: (await memory.inspect(id)).position ?? 0 });
      }),
    },
  },
  outboxReplay: {
    weather: storm,
    sabotage: {
      store: (memory) =>
        bent<FactorStore>(memory, {
          takeOver: async (...args) => ({ ...(await memory.takeOver(...args)), outbox: null }),
        }),
    },
  },
  unacknowledged: {
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
  sourceMarks: {
    weather: storm,
    sabotage: { reader: forgetful('item', /^source:/) },
  },
  ordinals: {
    weather: storm,
    sabotage: {
      reader: onSide('item', (marks) =>
        [...marks].map(([name, mark]) => [
          name,
          name.startsWith('source:') ? `${mark.split(':').slice(0, 2).join(':')}:1000000` : mark,
        ]),
      ),
    },
  },
  forwardedMarks: {
    weather: storm,
    sabotage: { reader: forgetful('user', /^forwarded:/) },
  },
  forgottenMark: {
    weather: storm,
    sabotage: { reader: forgetful('user', /^forgotten$/) },
  },
  markers: {
    weather: calm,
    sabotage: { isDeafToMarkers: true },
  },
  loadUntilDone: {
    weather: failingLoads,
    sabotage: { replica: HastyReplica },
  },
  partVersions: { weather: storm, sabotage: { aggregation: timeless } },
  storeCheck: {
    weather: { ...calm, storeWiped: 0.02 },
    sabotage: { stage: (stage) => bent(stage, { isStored: async () => true }) },
  },
  holes: {
    weather: moreCuts,
    sabotage: { readerAdmin: blind({ start: 0 }) },
  },
  topicIds: {
    weather: logLoss,
    sabotage: { readerAdmin: nameless, stageAdmin: nameless },
  },
  logEnd: {
    weather: logLoss,
    sabotage: { readerAdmin: endless, stageAdmin: endless },
  },
  lives: {
    weather: logLoss,
    sabotage: {
      reader: onSide(
        'item',
        (marks) => [...marks].map(([name, mark]) => [name, name === 'life' ? '0' : mark]),
        immortal,
      ),
    },
  },
  wholeRebuild: {
    weather: moreCuts,
    sabotage: { mayRebuildFromPart: true },
  },
} satisfies Record<string, Guard>;

/** A resend that the store does not recognise. */
export const anonymousCommits: Sabotage = {
  store: lax((memory, id, commit) => memory.commit(id, { ...commit, id: `${Math.random()}` })),
};
