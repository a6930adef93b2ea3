/** What applying records to a shard leads to, beside the change of the shard itself. */
import { type ItemRating, ItemRatingPack } from '@freshet/events';
import {
  counted,
  NO_MARK,
  NO_TALLY,
  type Progress,
  plus,
  type ShardFacts,
  type SourceMark,
} from '@freshet/store';

/** The mark of a source after one more entry, which lies in `entries` from `start` to `end`. */
export function markAfter(
  mark: SourceMark,
  { life, offset, ordinal }: Omit<SourceMark, 'applied'>,
  entries: Uint8Array,
  start: number,
  end: number,
): SourceMark {
  const before = mark.life === life ? mark.applied : NO_TALLY;
  return { life, offset, ordinal, applied: counted(before, entries, start, end) };
}

/** The ratings for one item shard, which travel as one record. */
class ForwardedRatings {
  readonly pack = new ItemRatingPack();
  tally = NO_TALLY;

  /** `produced`: when the first of the ratings was produced, ms. */
  constructor(readonly produced: number) {}

  /** The tally leaves the vector out: a shard that computes again may come to another one. */
  add(rating: ItemRating): void {
    const start = this.pack.length;
    const end = this.pack.add(rating);
    this.tally = counted(this.tally, this.pack.room, start, end);
  }
}

/** The delay of 1 in so many ratings is measured: each costs a call of a histogram. */
const DELAY_SAMPLE = 16;

export class Batch {
  /** What item shards are to apply, by shard. */
  readonly forwarded = new Map<number, ForwardedRatings>();
  /** When a sample of the ratings that moved a vector were produced, ms. */
  readonly produced: number[] = [];
  /** By user whose vector moved: the traceparent of the last rating that moved it and has one. */
  readonly traces = new Map<string, string>();
  /** Set if a record needs more than one commit: the rest of it follows in the next. */
  unfinished: Progress | null = null;
  /** Change of the number of known ratings, and of the sum of their values. */
  ratings = 0;
  values = 0;
  /** The latest clock by which ratings were counted. */
  clock = 0;
  /** How many ratings moved a vector, and how many of those replaced another. */
  moves = 0;
  reratings = 0;
  /** Of the sources of this batch: how far they are applied. */
  readonly marks = new Map<string, SourceMark>();

  /** `facts`: as the last commit left them. */
  constructor(readonly facts: ShardFacts) {}

  markOf(source: string): SourceMark {
    return this.marks.get(source) ?? this.facts.sources[source] ?? NO_MARK;
  }

  moved(produced: number): void {
    if (this.moves++ % DELAY_SAMPLE === 0) this.produced.push(produced);
  }

  forward(itemShard: number, rating: ItemRating, produced: number): void {
    let forwarded = this.forwarded.get(itemShard);
    if (forwarded === undefined) {
      forwarded = new ForwardedRatings(produced);
      this.forwarded.set(itemShard, forwarded);
    }
    forwarded.add(rating);
  }

  /** The facts after the commit of this batch. */
  factsAfter(epoch: number): ShardFacts {
    const { facts } = this;
    const sent = { ...facts.sent };
    for (const [shard, { tally }] of this.forwarded) {
      sent[shard] = plus(sent[shard] ?? NO_TALLY, tally);
    }
    return {
      ...facts,
      epoch,
      sequence: facts.sequence + 1,
      ratings: facts.ratings + this.ratings,
      values: facts.values + this.values,
      moves: facts.moves + this.moves,
      clock: Math.max(facts.clock, this.clock),
      sources: { ...facts.sources, ...Object.fromEntries(this.marks) },
      sent,
      progress: this.unfinished,
    };
  }
}
