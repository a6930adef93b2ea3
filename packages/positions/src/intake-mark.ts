/**
 * How far intake has read a partition of the user's topics, as it tells Kafka with every offset it commits:
 * its only state. Whoever measures lag or audits reads it there.
 */
import { type FactorStore, NO_TALLY, type Tally } from '@freshet/store';
import type { TopicAdmin } from '@freshet/stream';

export interface IntakeMark {
  /** By which a recreated topic is told; its name where the broker has no ids. */
  readonly topicId: string;
  /** The rebuild since which the partition is read; 0: there was none. */
  readonly life: number;
  /** What was sent to user shards in this life. */
  readonly sent: Tally;
}

export interface SourcePartition {
  readonly topic: string;
  readonly partition: number;
  readonly start: number;
  readonly end: number;
  /** Where intake goes on; null: it has never been there. */
  readonly position: number | null;
  readonly mark: IntakeMark;
}

/** The group in which updaters share the partitions of one of the user's topics. */
export function intakeGroup(model: string, topic: string): string {
  return `${model}.intake.${topic}`;
}

/**
 * Under this name a user shard keeps how far it has applied a partition of a source. By its id a recreated
 * topic is told from the one before, by its name what became of it.
 */
export function sourceName(topic: string, topicId: string, partition: number): string {
  return `${topic}@${topicId}:${partition}`;
}

/** What user shards have applied of a partition of a source, whichever topic of that name it was. */
export interface SourceTrace {
  readonly topicId: string;
  /** The highest offset, and the last life, that any of them has. */
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

/** Of what somebody else has committed in the group's name, only the offset is taken. */
export function decodeIntakeMark(text: string, topicId: string): IntakeMark {
  try {
    const [known, life, count, sum] = JSON.parse(text);
    if (typeof known === 'string' && [life, count, sum].every(Number.isSafeInteger)) {
      return { topicId: known, life, sent: { count, sum } };
    }
  } catch {
    // Not ours: an operator has set the offsets by hand.
  }
  return { topicId, life: 0, sent: NO_TALLY };
}

/** Every partition of the sources as it is now; topics that do not exist have none. */
export async function readSources(
  admin: Pick<TopicAdmin, 'ranges' | 'committed' | 'topicId' | 'exists'>,
  model: string,
  topics: readonly string[],
): Promise<SourcePartition[]> {
  const found = await Promise.all(
    topics.map(async (topic) => {
      if (!(await admin.exists(topic))) return [];
      const topicId = (await admin.topicId(topic)) ?? topic;
      // First where intake is, then where the logs end: what comes between counts as not yet read.
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
