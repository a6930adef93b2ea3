/** What applying some records to a shard leads to, beside the change of the shard itself. */
import { type ItemRating, ItemRatingPack } from '@freshet/events';
import {
  counted,
  NO_MARK,
  NO_TALLY,
  type Progress,
  plus,
  type ShardFacts,
  type SourceMark,
  type Tally,
} from '@freshet/store';

/** What goes to one item shard, as one record. */
class Forwards {
  readonly pack = new ItemRatingPack();
  #sent = NO_TALLY;

  /** `produced`: when the first of them was. */
  constructor(readonly produced: number) {}

  get sent(): Tally {
    return this.#sent;
  }

  /** The vector is not counted: a shard that computes again may have come to another. */
  add(rating: ItemRating): void {
    const start = this.pack.length;
    const end = this.pack.add(rating);
    this.#sent = counted(this.#sent, this.pack.room, start, end);
  }
}

/** One of so many ratings is timed from where it was produced. */
const PRODUCED_EVERY = 16;

export class Batch {
  /** What item shards are to apply, by shard. */
  readonly forwards = new Map<number, Forwards>();
  /** When some of the ratings that moved a vector were produced, ms. */
  readonly produced: number[] = [];
  /** Set once a record needs more than one commit: the rest of it follows in the next. */
  unfinished: Progress | null = null;
  /** Change of the number of known ratings, and of the sum of their values. */
  ratings = 0;
  values = 0;
  /** By which ratings were counted. */
  clock = 0;
  /** How many ratings moved a vector, and how many of those replaced another. */
  moves = 0;
  reratings = 0;
  readonly #facts: ShardFacts;
  readonly #marks = new Map<string, SourceMark>();

  /** `facts`: as the last commit left them. */
  constructor(facts: ShardFacts) {
    this.#facts = facts;
  }

  get facts(): ShardFacts {
    return this.#facts;
  }

  /** Sources that the batch has ratings of. */
  get marks(): ReadonlyMap<string, SourceMark> {
    return this.#marks;
  }

  markOf(source: string): SourceMark {
    return this.#marks.get(source) ?? this.#facts.sources[source] ?? NO_MARK;
  }

  mark(source: string, mark: SourceMark): void {
    this.#marks.set(source, mark);
  }

  moved(produced: number): void {
    if (this.moves++ % PRODUCED_EVERY === 0) this.produced.push(produced);
  }

  forward(itemShard: number, rating: ItemRating, produced: number): void {
    let forwards = this.forwards.get(itemShard);
    if (forwards === undefined) {
      forwards = new Forwards(produced);
      this.forwards.set(itemShard, forwards);
    }
    forwards.add(rating);
  }

  /** The facts with this batch in them. */
  factsAfter(epoch: number): ShardFacts {
    const facts = this.#facts;
    const sent = { ...facts.sent };
    for (const [shard, forwards] of this.forwards) {
      sent[shard] = plus(sent[shard] ?? NO_TALLY, forwards.sent);
    }
    return {
      ...facts,
      epoch,
      sequence: facts.sequence + 1,
      ratings: facts.ratings + this.ratings,
      values: facts.values + this.values,
      moves: facts.moves + this.moves,
      clock: Math.max(facts.clock, this.clock),
      sources: { ...facts.sources, ...Object.fromEntries(this.#marks) },
      sent,
      progress: this.unfinished,
    };
  }
}
