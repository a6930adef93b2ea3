/**
 * The sum of the parts of all shards: the grams, the clock and θ. Parts are absolute, and only the
 * newest of a shard counts, in whatever order and however often they arrive: the sum cannot drift.
 */
import { type GramPart, type GramsEvent, isNewer } from '@freshet/events';
import { Gram, type Grams, type ModelSettings, ShardSums } from '@freshet/model';
import { LearntTheta } from './learnt-theta.ts';

type HeldPart = Omit<GramPart, 'sums'> & { readonly sums: ShardSums };

export class GramSum {
  readonly learnt: LearntTheta;
  readonly #parts = new Map<string, HeldPart>();
  /** By user shard, the number of ratings applied according to its last part. */
  readonly #moves = new Map<number, number>();
  #clock = 0;

  constructor(
    readonly factorCount: number,
    ranking: ModelSettings['ranking'],
  ) {
    this.learnt = new LearntTheta(ranking);
  }

  /** True if the part is newer than the one held of its shard. */
  receive(part: GramPart): boolean {
    const key = `${part.side}:${part.shard}`;
    if (!isNewer(part, this.#parts.get(key))) return false;
    const sums = ShardSums.fromBytes(part.side, part.sums, this.factorCount);
    this.#parts.set(key, { ...part, sums });
    this.#passTime(part);
    return true;
  }

  /** The clock never goes back: items have counts that were decayed up to it. */
  startClockAt(clock: number): void {
    this.#clock = Math.max(this.#clock, clock);
  }

  total(): Grams {
    const k = this.factorCount;
    const counts = { ratings: 0, values: 0, clock: this.#clock, theta: this.learnt.theta };
    const total: Grams = { user: Gram.zero(k), item: Gram.zero(k), ...counts };
    for (const { side, sums, ratings, values } of this.#parts.values()) {
      total[side].add(sums.gram);
      // Ratings are counted where they are judged: on the user side.
      if (side === 'item') continue;
      total.ratings += ratings;
      total.values += values;
    }
    return total;
  }

  /** Updates θ by the lessons that the parts have brought since the last call. */
  learn(): void {
    const lessons = [...this.#parts.values()].flatMap(({ shard, sums }) => {
      return sums.lessons === undefined ? [] : [[shard, sums.lessons] as const];
    });
    this.learnt.learn(lessons);
  }

  /** `withLearnt` adds the state from which a successor goes on learning θ. */
  toEvent(withLearnt = true): GramsEvent {
    const { user, item, ...counts } = this.total();
    const parts = [...this.#parts.values()].map(({ side, shard, epoch, sequence }) => {
      return { side, shard, epoch, sequence };
    });
    return {
      factorCount: this.factorCount,
      user: user.toBytes(),
      item: item.toBytes(),
      ...counts,
      learnt: withLearnt ? this.learnt.toBytes() : new Uint8Array(),
      parts,
    };
  }

  /** The clock ticks by 1/m for every applied rating. A shard's first part only sets its count. */
  #passTime({ side, shard, moves, clock }: GramPart): void {
    this.startClockAt(clock);
    if (side === 'item') return;
    const known = this.#moves.get(shard);
    this.#moves.set(shard, moves);
    const items = this.#itemCount();
    if (known !== undefined && moves > known && items > 0) this.#clock += (moves - known) / items;
  }

  #itemCount(): number {
    let count = 0;
    for (const { side, sums } of this.#parts.values())
      if (side === 'item') count += sums.gram.count;
    return count;
  }
}
