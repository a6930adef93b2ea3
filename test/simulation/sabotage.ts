/** The places at which a test can disable a check of the services. */
import type { Side } from '@freshet/events';
import type { ListedReplica } from '@freshet/replicas';
import type { FactorStore, MemoryStore } from '@freshet/store';
import type { LogRecord, PartitionOwner, Publisher } from '@freshet/stream';
import type { MemoryLog } from '@freshet/testkit';
import type { Batch } from '../../services/updater/src/batch.ts';

export interface Sabotage {
  readonly store?: (store: MemoryStore) => FactorStore;
  /** What a shard sees of a record, and of the batch that its decisions go to. */
  readonly record?: (side: Side, record: LogRecord) => LogRecord;
  readonly batch?: (side: Side, batch: Batch) => Batch;
  /** What the partition reader learns of the log. */
  readonly readerAdmin?: (log: MemoryLog) => MemoryLog;
  /** What intake and the stages learn of the log. */
  readonly ownerAdmin?: (log: MemoryLog) => MemoryLog;
  readonly intake?: (intake: PartitionOwner) => PartitionOwner;
  /** What intake sends with. */
  readonly intakePublisher?: (publisher: Pick<Publisher, 'publish'>) => Pick<Publisher, 'publish'>;
  readonly stage?: (side: Side, stage: PartitionOwner, helper: Helper) => PartitionOwner;
  readonly aggregation?: (aggregation: PartitionOwner) => PartitionOwner;
  readonly replica?: new (...args: ConstructorParameters<typeof ListedReplica>) => ListedReplica;
  /** The consumer does not report batches that hold only transaction markers. */
  readonly isDeafToMarkers?: boolean;
}

/** What a stage needs to accept a loss by itself. */
export interface Helper {
  readonly memory: MemoryStore;
  readonly log: MemoryLog;
}

/** An object with some of its methods or properties replaced. */
export function bent<T extends object>(target: T, replaced: Partial<T>): T {
  return new Proxy(target, {
    get: (real, name) => {
      const isReplaced = Reflect.has(replaced, name);
      const found = Reflect.get(isReplaced ? replaced : real, name);
      return typeof found === 'function' ? found.bind(isReplaced ? replaced : real) : found;
    },
  });
}
