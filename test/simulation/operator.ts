/** The person who is told that a partition is held, and does what the message says: `freshet sources --accept`. */
import type { MemoryStore } from '@freshet/store';
import type { MemoryLog } from '@freshet/testkit';
import { type Accepting, acceptSource } from '../../packages/cli/src/sources/accept-source.ts';
import { readSources } from '../../packages/cli/src/sources/source-report.ts';
import type { Lineage } from './lineage.ts';
import { MODEL, PARTITIONS, settings } from './simulated-model.ts';

export class Operator {
  /** How often something was accepted. */
  accepted = 0;

  constructor(
    readonly log: MemoryLog,
    readonly memory: MemoryStore,
  ) {}

  async acceptAll(lineage: Lineage): Promise<void> {
    const { log, memory } = this;
    const { factorCount } = settings;
    const sources = { store: memory, admin: log, model: MODEL, partitions: PARTITIONS };
    for (const source of await readSources(sources)) {
      if (source.state === 'ok') continue;
      let applied: number | null = null;
      const store: Accepting['store'] = {
        inspect: (id) => memory.inspect(id),
        commit: (id, commit) => memory.commit(id, commit),
        // What counts is where the shard was when nobody else could move it any more.
        takeOver: async (id, epoch) => {
          const state = await memory.takeOver(id, epoch);
          applied = state.position;
          return state;
        },
      };
      const now = () => new Date();
      const accepting = { store, publisher: log, admin: log, model: MODEL, factorCount, now };
      await acceptSource(accepting, source);
      const { side, shard } = source.id;
      if (side === 'user') await lineage.accept(shard, applied, source.next);
      this.accepted++;
    }
  }
}
