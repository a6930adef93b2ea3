/**
 * What a shard records of itself beside its vectors and bodies: its version, how far it has applied
 * each of its sources, what it has sent. It is one text, which every commit writes as a whole.
 */
import { NO_TALLY, type Tally } from './tally.ts';

/**
 * How far a shard has applied what one source sent: its life, the offset, the index among those of
 * that offset, and a tally of what was applied of that life. What is not above it is a repetition.
 */
export interface SourceMark {
  readonly life: number;
  readonly offset: number;
  readonly ordinal: number;
  readonly applied: Tally;
}

/** A person has accepted that records of the shard's log are lost. */
export interface Acceptance {
  readonly at: string;
  readonly kind: string;
  readonly from: number | null;
  readonly next: number;
}

/** Of a record that needs several commits: how many decisions of it are committed. */
export interface Progress {
  readonly offset: number;
  readonly decisions: number;
}

/**
 * The shard was restored from a snapshot. What user shards sent in lives that began after the
 * snapshot and before the restore does not count: they were learning the same ratings again.
 */
interface Restoration {
  /** The epoch at which the snapshot was restored: later lives count. */
  readonly epoch: number;
  /** By source: its life in the snapshot. */
  readonly lives: Readonly<Record<string, number>>;
}

export interface ShardFacts {
  /** The version of the last commit; 0: there was none. */
  readonly epoch: number;
  readonly sequence: number;
  /** Known ratings. */
  readonly ratings: number;
  /** The sum of their values. */
  readonly values: number;
  /** Ratings that have counted so far. Unlike the known ratings they never decrease. */
  readonly moves: number;
  /** The latest clock by which ratings were counted. */
  readonly clock: number;
  /** The life in which the shard sends; null before its first commit. */
  readonly life: number | null;
  /** What sources sent in a life before this one does not count. */
  readonly leastLife: number;
  /** The id of the topic to which the position belongs; null if the broker is too old for ids. */
  readonly topicId: string | null;
  /** By source: of a user shard TOPIC:PARTITION, of an item shard the user shard. */
  readonly sources: Readonly<Record<string, SourceMark>>;
  /** By item shard: what was sent to it in this life. */
  readonly sent: Readonly<Record<string, Tally>>;
  readonly progress: Progress | null;
  readonly accepted: readonly Acceptance[];
  /**
   * The position at which `freshet factorize` last wrote the shard; null: never. Since then its
   * content does not follow from its log alone.
   */
  readonly factorized: number | null;
  /** Of an item shard: every restore that its content went through, oldest first. */
  readonly restorations: readonly Restoration[];
}

export const NO_FACTS: ShardFacts = {
  epoch: 0,
  sequence: 0,
  ratings: 0,
  values: 0,
  moves: 0,
  clock: 0,
  life: null,
  leastLife: 0,
  topicId: null,
  sources: {},
  sent: {},
  progress: null,
  accepted: [],
  factorized: null,
  restorations: [],
};

export const NO_MARK: SourceMark = { life: 0, offset: -1, ordinal: -1, applied: NO_TALLY };

export function isAbove(
  place: Pick<SourceMark, 'life' | 'offset' | 'ordinal'>,
  mark: SourceMark,
): boolean {
  if (place.life !== mark.life) return place.life > mark.life;
  if (place.offset !== mark.offset) return place.offset > mark.offset;
  return place.ordinal > mark.ordinal;
}

/** Whether what a source sent in one of its lives counts for a shard. */
export function countsInLife(
  { leastLife, restorations }: Pick<ShardFacts, 'leastLife' | 'restorations'>,
  source: string,
  life: number,
): boolean {
  if (life < leastLife) return false;
  return restorations.every(({ epoch, lives }) => {
    const known = lives[source];
    return known === undefined || life <= known || life >= epoch;
  });
}

/** Life, offset, ordinal, then count and sum of what was applied. */
type StoredMark = [number, number, number, number, number];

export function encodeFacts(facts: ShardFacts): string {
  return JSON.stringify({
    ...facts,
    sources: mapped(facts.sources, ({ life, offset, ordinal, applied }) => {
      return [life, offset, ordinal, applied.count, applied.sum];
    }),
    sent: mapped(facts.sent, ({ count, sum }) => [count, sum]),
  });
}

export function decodeFacts(text: string): ShardFacts {
  const facts = JSON.parse(text);
  return {
    // Facts that were written before a field existed do not have it.
    ...NO_FACTS,
    ...facts,
    sources: mapped<StoredMark, SourceMark>(facts.sources, (numbers) => {
      const [life, offset, ordinal, count, sum] = numbers;
      return { life, offset, ordinal, applied: { count, sum } };
    }),
    sent: mapped<[number, number], Tally>(facts.sent, ([count, sum]) => ({ count, sum })),
  };
}

function mapped<A, B>(all: Readonly<Record<string, A>>, change: (each: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(all).map(([name, each]) => [name, change(each)]));
}
