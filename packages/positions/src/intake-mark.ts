/**
 * How far intake has read each partition of the user's topics. Intake commits it to Kafka as the
 * metadata of each offset, and has no other state. Lag and audit are computed from it.
 */
import { type FactorStore, NO_TALLY, type Tally } from '@freshet/store';
import type { TopicAdmin } from '@freshet/stream';

export interface IntakeMark {
  /** Tells a recreated topic from the one before; the name if the broker has no topic ids. */
  readonly topicId: string;
  /** The epoch of the rebuild for which the partition is read; 0: there was none. */
  readonly life: number;
  /** What was sent to user shards in this life. */
  readonly sent: Tally;
}

export interface SourcePartition {
  readonly topic: string;
  readonly partition: number;
  readonly start: number;
  readonly end: number;
  /** The offset that intake reads next; null: it has not read the partition yet. */
  readonly position: number | null;
  readonly mark: IntakeMark;
}

/** The consumer group in which updaters share the partitions of one source. */
export function intakeGroup(model: string, topic: string): string {
  return `${model}.intake.${topic}`;
}

/**
 * The name under which a user shard keeps how far it has applied a source partition. The id tells a
 * recreated topic from the one before; the name tells that both are the same source.
 */
export function sourceName(topic: string, topicId: string, partition: number): string {
  return `${topic}@${topicId}:${partition}`;
}

/** What user shards have applied of a source partition, of one of the topics that had its name. */
export interface SourceTrace {
  readonly topicId: string;
  /** The highest offset and the last life over all user shards. */
  readonly offset: number;
  readonly life: number;
}

export async function readTraces(
  store: Pick<FactorStore, 'head'>,
  shards: number,
  { topic, partition }: Pick<SourcePartition, 'topic' | 'partition'>,
): Promise<SourceTrace[]> {
  const highest = new Map<string, SourceTrace>();
  const [prefix, suffix] = [`${topic}@`, `:${partition}`];
  for (let shard = 0; shard < shards; shard++) {
    const { facts } = await store.head({ side: 'user', shard });
    for (const [name, mark] of Object.entries(facts.sources)) {
      if (!name.startsWith(prefix) || !name.endsWith(suffix)) continue;
      const topicId = name.slice(prefix.length, -suffix.length);
      const known = highest.get(topicId) ?? mark;
      const [offset, life] = [Math.max(mark.offset, known.offset), Math.max(mark.life, known.life)];
      highest.set(topicId, { topicId, offset, life });
    }
  }
  return [...highest.values()];
}

export function encodeIntakeMark({ topicId, life, sent }: IntakeMark): string {
  return JSON.stringify([topicId, life, sent.count, sent.sum]);
}

/** Of an offset that somebody else has committed in this group, only the offset itself counts. */
export function decodeIntakeMark(text: string, topicId: string): IntakeMark {
  try {
    const [known, life, count, sum] = JSON.parse(text);
    if (typeof known === 'string' && [life, count, sum].every(Number.isSafeInteger)) {
      return { topicId: known, life, sent: { count, sum } };
    }
  } catch {
    // Intake did not write this: an operator has set the offset by hand.
  }
  return { topicId, life: 0, sent: NO_TALLY };
}

/** Every partition of the sources as it is now, without topics that do not exist. */
export async function readSources(
  admin: Pick<TopicAdmin, 'ranges' | 'committed' | 'topicId' | 'exists'>,
  model: string,
  topics: readonly string[],
): Promise<SourcePartition[]> {
  const found = await Promise.all(
    topics.map(async (topic) => {
      if (!(await admin.exists(topic))) return [];
      const topicId = (await admin.topicId(topic)) ?? topic;
      // Positions first, then ends: what is produced in between counts as unread.
      const committed = await admin.committed(intakeGroup(model, topic), topic);
      const ranges = await admin.ranges(topic);
      return [...ranges].map(([partition, range]) => {
        const known = committed.get(partition);
        const mark = decodeIntakeMark(known?.metadata ?? '', topicId);
        return { topic, partition, ...range, position: known?.offset ?? null, mark };
      });
    }),
  );
  return found.flat();
}
