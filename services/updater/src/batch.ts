/** What applying some records to a shard leads to, beside the change of the shard itself. */
import { type ItemRating, ItemRatingPack, murmur2, type PoisonReason } from '@freshet/events';
import type { OutRecord } from '@freshet/stream';

/**
 * How many records, and the sum of their hashes: equal tallies mean the same records, each once. Kept
 * in the commit itself, so that an audit can compare what user shards sent with what item shards did.
 */
export class Tally {
  constructor(
    public count = 0,
    public sum = 0,
  ) {}

  static parse(text: string | undefined): Tally {
    const [count = 0, sum = 0] = (text ?? '').split(':').map(Number);
    return new Tally(count, sum);
  }

  /** Of the bytes from `start` to `end`. */
  add(bytes: Uint8Array, start = 0, end = bytes.length): void {
    this.count++;
    this.sum = (this.sum + (murmur2(bytes, start, end) >>> 0)) % Number.MAX_SAFE_INTEGER;
  }

  plus(other: Tally): Tally {
    const sum = (this.sum + other.sum) % Number.MAX_SAFE_INTEGER;
    return new Tally(this.count + other.count, sum);
  }

  toString(): string {
    return `${this.count}:${this.sum}`;
  }
}

/** Facts that a shard keeps of its sources, by name. */
export type Marks = ReadonlyMap<string, string>;

/** What goes to one item shard, as one record. */
export class Forwards {
  readonly pack = new ItemRatingPack();
  readonly sent = new Tally();

  /** `produced`: when the first of them was. */
  constructor(readonly produced: number) {}

  add(rating: ItemRating): void {
    const start = this.pack.length;
    this.pack.add(rating);
    this.sent.add(this.pack.bytes, start);
  }
}

/** One of so many ratings is timed from where it was produced. */
const PRODUCED_EVERY = 16;

export class Batch {
  /** Records to publish once the batch is committed, in order, beside the forwards. */
  readonly out: OutRecord[] = [];
  /** What other shards are to apply, by item shard. */
  readonly forwards = new Map<number, Forwards>();
  /** Positions of other sources that the shard has applied, by name. */
  readonly marks = new Map<string, string>();
  /** When some of the ratings that moved a vector were produced, ms. */
  readonly produced: number[] = [];
  readonly parked: PoisonReason[] = [];
  /** Records of the source that were applied, each once. */
  readonly applied = new Tally();
  /** False once a record needs more than one commit: the rest of it follows in the next. */
  finished = true;
  /** Change of the number of known ratings. */
  ratings = 0;
  /** How many ratings moved a vector, and how many of those replaced another. */
  moves = 0;
  reratings = 0;
  /** Records that were sent to the partition where they belong. */
  strays = 0;

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

  /** The shard's tallies with this batch in them, as facts. */
  tallies(marks: Marks): [string, string][] {
    const total = (name: string, tally: Tally): [string, string] => [
      name,
      Tally.parse(marks.get(name)).plus(tally).toString(),
    ];
    const sent = [...this.forwards].map(([shard, { sent }]) => total(`sent:${shard}`, sent));
    return [total('applied', this.applied), ...sent];
  }
}
