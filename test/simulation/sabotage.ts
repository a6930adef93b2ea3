/** What may be taken away from the real thing, to see that its absence is noticed. */
import type { Side } from '@freshet/events';
import type { Replica } from '@freshet/session';
import type { FactorStore, MemoryStore } from '@freshet/store';
import type { PartitionOwner } from '@freshet/stream';
import type { MemoryLog } from '@freshet/testkit';
import type { RecordReader } from '../../services/updater/src/owned-shard.ts';

export interface Sabotage {
  readonly store?: (store: MemoryStore) => FactorStore;
  readonly reader?: (side: Side, reader: RecordReader) => RecordReader;
  /** What the partition reader learns of the log. */
  readonly readerAdmin?: (log: MemoryLog) => MemoryLog;
  /** What the stage learns of the log. */
  readonly stageAdmin?: (log: MemoryLog) => MemoryLog;
  readonly stage?: (stage: PartitionOwner) => PartitionOwner;
  readonly aggregation?: (aggregation: PartitionOwner) => PartitionOwner;
  readonly replica?: new (...args: ConstructorParameters<typeof Replica>) => Replica;
  readonly mayRebuildFromPart?: boolean;
  /** Batches of markers alone go by in silence. */
  readonly isDeafToMarkers?: boolean;
}

/** An object with some of its methods replaced. */
export function bent<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get: (real, name) => {
      const replaced = Reflect.get(methods, name);
      const found = replaced ?? Reflect.get(real, name);
      return typeof found === 'function' ? found.bind(replaced ? methods : real) : found;
    },
  });
}
