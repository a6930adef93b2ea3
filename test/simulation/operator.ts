/**
 * The operator, who does what the message about a held partition says: `freshet sources --accept`
 * where a source has lost records, `freshet rebuild` where the store has lost a shard that its log
 * can no longer restore.
 */
import { readSources } from '@freshet/positions';
import type { MemoryStore } from '@freshet/store';
import type { MemoryLog } from '@freshet/testkit';
import { claimEpoch, planRebuild } from '../../packages/cli/src/rebuild/rebuild-plan.ts';
import { acceptSource } from '../../packages/cli/src/sources/accept-source.ts';
import { reportSources, type SourceState } from '../../packages/cli/src/sources/source-report.ts';
import type { Lineage } from './lineage.ts';
import { agreement, MODEL, SHARDS, settings, shards, sources } from './simulated-model.ts';

const topics = Object.keys(sources);

export class Operator {
  /** How often something was accepted, and how often everything was rebuilt. */
  accepted = 0;
  rebuilt = 0;

  constructor(
    readonly log: MemoryLog,
    readonly memory: MemoryStore,
    readonly lineage: Lineage,
    /** The log as the services see it. */
    readonly admin: MemoryLog = log,
  ) {}

  /** Looks at every partition once, and does what the held ones ask for. */
  async look(): Promise<void> {
    const { admin, memory } = this;
    const looked = { store: memory, admin, model: MODEL, shards: SHARDS, topics };
    const held = (await reportSources(looked)).filter(({ state }) => state !== 'ok');
    // The simulation recreates a log of a side only after all of it was applied, so nothing is lost
    // with it.
    const isLost = ({ reader, state }: SourceState) => reader !== 'intake' && state !== 'recreated';
    if (held.some(isLost)) return this.rebuild();
    for (const source of held) await this.#accept(source);
  }

  async rebuild(): Promise<void> {
    const { log, memory, lineage } = this;
    const heads = await Promise.all(shards.map((id) => memory.head(id)));
    const partitions = await readSources(this.admin, MODEL, topics);
    const plan = planRebuild({ topics, partitions, heads, birth: await memory.birth() });
    const born = await claimEpoch(log, MODEL, { key: 'rebuild', least: plan.highest });
    await memory.rebuild(agreement, born);
    await lineage.restart();
    this.rebuilt++;
  }

  async #accept(source: SourceState): Promise<void> {
    const { log, memory } = this;
    const { factorCount } = settings;
    const now = () => new Date();
    await acceptSource({ store: memory, publisher: log, model: MODEL, factorCount, now }, source);
    const { reader, state, topic, partition, from, next } = source;
    const isCut = reader === 'intake' && state === 'cut';
    if (isCut) await this.lineage.accept(topic, partition, from, next);
    this.accepted++;
  }
}
