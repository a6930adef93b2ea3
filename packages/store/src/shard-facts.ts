/**
 * What a shard knows of itself beside its vectors and rows: how often it has committed, how far it has applied
 * each of its sources, what it has sent. Written whole with every commit, as one text; read here and nowhere
 * else.
 */
import { NO_TALLY, type Tally } from './tally.ts';

/**
 * How far a shard has applied what one source sent: which life of the source, the offset in it, the place
 * among the entries of that offset, and all of that life that was applied. What is not above is a repetition.
 */
export interface SourceMark {
  readonly life: number;
  readonly offset: number;
  readonly ordinal: number;
  readonly applied: Tally;
}

/** A person has accepted that part of a log is lost. */
export interface Acceptance {
  readonly at: string;
  readonly kind: string;
  readonly from: number | null;
  readonly next: number;
}

/** Of a record that needs several commits: how many decisions it has led to so far. */
export interface Progress {
  readonly offset: number;
  readonly decisions: number;
}

export interface ShardFacts {
  /** Of the last commit; 0: there was none. */
  readonly epoch: number;
  readonly sequence: number;
  /** Known ratings. */
  readonly ratings: number;
  /** The sum of their values. */
  readonly values: number;
  /** Ratings that have counted so far: unlike those known, never fewer. */
  readonly moves: number;
  /** The latest clock that ratings were counted by. */
  readonly clock: number;
  /** The life in which the shard sends; null before it has one. */
  readonly life: number | null;
  /** What its sources sent in an earlier life than this is void. */
  readonly leastLife: number;
  /** The id of the topic that the position is of; null where the broker cannot tell. */
  readonly topicId: string | null;
  /** By source: of a user shard TOPIC:PARTITION, of an item shard the user shard. */
  readonly sources: Readonly<Record<string, SourceMark>>;
  /** What was sent in this life, by item shard. */
  readonly sent: Readonly<Record<string, Tally>>;
  readonly progress: Progress | null;
  readonly accepted: readonly Acceptance[];
  /**
   * Where the shard was when `freshet factorize` last wrote it; null: never. What it holds no longer follows from
   * its log alone.
   */
  readonly factorized: number | null;
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
    ...facts,
    sources: mapped<number[], SourceMark>(facts.sources, (numbers) => {
      const [life = 0, offset = -1, ordinal = -1, count = 0, sum = 0] = numbers;
      return { life, offset, ordinal, applied: { count, sum } };
    }),
    sent: mapped<number[], Tally>(facts.sent, ([count = 0, sum = 0]) => ({ count, sum })),
  };
}

function mapped<A, B>(all: Readonly<Record<string, A>>, change: (each: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(all).map(([name, each]) => [name, change(each)]));
}
