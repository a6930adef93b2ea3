/** What applying some records to a shard leads to, beside the change of the shard itself. */
import { murmur2, type PoisonReason } from '@freshet/events';
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

  add(bytes: Uint8Array): void {
    this.count++;
    this.sum = (this.sum + (murmur2(bytes) >>> 0)) % Number.MAX_SAFE_INTEGER;
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

export class Batch {
  /** Records to publish once the batch is committed, in order. */
  readonly out: OutRecord[] = [];
  /** Positions of other sources that the shard has applied, by name. */
  readonly marks = new Map<string, string>();
  /** When each applied rating was produced, ms. */
  readonly appliedTimestamps: number[] = [];
  readonly parked: PoisonReason[] = [];
  /** Records of the source that were applied, each once. */
  readonly applied = new Tally();
  /** Records sent to the other side. */
  readonly sent = new Tally();
  /** False once a record needs more than one commit: the rest of it follows in the next. */
  finished = true;
  /** Change of the number of known ratings. */
  ratings = 0;
  forwarded = 0;

  /** The shard's tallies with this batch in them, as facts. */
  tallies(marks: Marks): [string, string][] {
    const total = (name: 'applied' | 'sent'): [string, string] => [
      name,
      Tally.parse(marks.get(name)).plus(this[name]).toString(),
    ];
    return [total('applied'), total('sent')];
  }
}
