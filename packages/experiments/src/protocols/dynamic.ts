/**
 * How good is a model that learns as the ratings arrive? The prequential protocol: for each rating
 * of the test block, first ask where the model places the item for that user, then let it learn.
 * With a delay d the model is always d ratings behind, which is what being late costs.
 */
import { Mean } from '../metrics/mean.ts';
import { aucOf, hitRateOf, type Standing, standing } from '../metrics/place.ts';
import { type RatingTable, sliceColumns } from '../rating-table.ts';
import type { StreamingRecommender } from '../recommender.ts';
import { Histories } from './histories.ts';
import { Stopwatch } from './stopwatch.ts';

interface DynamicOptions {
  /** Ratings before the test block: what the first model is built on. */
  readonly train: number;
  /** Ratings in the test block. */
  readonly test: number;
  /** How many ratings the model is behind. */
  readonly delay?: number;
  /** While the first model is built, the share done. */
  readonly onFit?: (share: number) => void;
  readonly onProgress?: (done: number, soFar: DynamicResult) => void;
}

/** One tenth of the test block. */
interface Block {
  readonly events: number;
  readonly aucServed: number | undefined;
  readonly aucStrict: number | undefined;
  readonly hitRate10: number | undefined;
}

export interface DynamicResult {
  readonly events: number;
  /** Ratings of something the same user had rated before: learnt from, not asked about. */
  readonly repeats: number;
  /** Unknown users answered as the system would answer them. */
  readonly aucServed: number | undefined;
  /** Unknown users count .5, as in the paper. */
  readonly aucStrict: number | undefined;
  /** Users with at most two earlier ratings; served. */
  readonly aucCold: number | undefined;
  readonly aucColdStrict: number | undefined;
  /** Users without any; served. */
  readonly aucNew: number | undefined;
  readonly hitRate10: number | undefined;
  readonly hitRate10Cold: number | undefined;
  readonly hitRate10New: number | undefined;
  readonly coldEvents: number;
  readonly newEvents: number;
  /** Events whose item the model did not know. */
  readonly newItemEvents: number;
  readonly blocks: readonly Block[];
  readonly fitSeconds: number;
  readonly updatesPerCpuSecond: number | undefined;
}

const blockCount = 10;
const coldUpTo = 2;
/** How often progress is told: a few times a second. */
const eventsPerReport = 1_000;

export function runDynamic(
  table: RatingTable,
  recommender: StreamingRecommender,
  options: DynamicOptions,
): DynamicResult {
  const { train, delay = 0 } = options;
  const end = Math.min(table.user.length, train + options.test);
  const seen = sliceColumns(table, 0, end);
  const histories = new Histories(seen, table.users.length, table.items.length);
  const tally = new DynamicTally(end - train);
  tally.fitSeconds = Stopwatch.measure(() =>
    recommender.fit(sliceColumns(table, 0, train), options.onFit),
  );

  const scores = new Float32Array(table.items.length);
  const rated = new Uint32Array(table.users.length);
  const applied = new Uint32Array(table.users.length);
  let known = 0;
  const learn = (row: number) => {
    applied[table.user[row]]++;
    known = Math.max(known, table.item[row] + 1);
  };
  for (let row = 0; row < train; row++) {
    learn(row);
    rated[table.user[row]] += 1 - histories.isRepeat[row];
  }
  tally.watch.start();
  for (let row = train; row < end; row++) {
    const user = table.user[row];
    const item = table.item[row];
    if (histories.isRepeat[row]) tally.repeats++;
    else {
      recommender.scoreAll(user, scores);
      const place =
        item < known
          ? standing(scores, item, known, histories.first(user, rated[user]))
          : undefined;
      tally.add(row - train, place, rated[user], applied[user] > 0);
      rated[user]++;
    }
    const late = row - delay;
    if (late >= train) {
      learn(late);
      tally.watch.time(() =>
        recommender.update(table.user[late], table.item[late], table.value[late], table.time[late]),
      );
    }
    const done = row - train + 1;
    if (done % eventsPerReport === 0) options.onProgress?.(done, tally.result());
  }
  return tally.result();
}

class SegmentTally {
  readonly served = new Mean();
  readonly strict = new Mean();
  readonly hits = new Mean();

  add(place: Standing | undefined, isKnownUser: boolean): void {
    // An unknown item cannot have been recommended: AUC one half by definition, and no hit.
    const auc = place === undefined ? 0.5 : aucOf(place);
    this.served.add(auc);
    this.strict.add(isKnownUser || auc === undefined ? auc : 0.5);
    if (auc !== undefined) this.hits.add(place === undefined ? 0 : hitRateOf(place, 10));
  }
}

class DynamicTally {
  readonly watch = new Stopwatch();
  readonly #all = new SegmentTally();
  readonly #cold = new SegmentTally();
  readonly #new = new SegmentTally();
  readonly #blocks = Array.from({ length: blockCount }, () => new SegmentTally());
  readonly #expected: number;
  #newItemEvents = 0;
  repeats = 0;
  fitSeconds = 0;

  constructor(expected: number) {
    this.#expected = expected;
  }

  add(event: number, place: Standing | undefined, earlier: number, isKnownUser: boolean): void {
    const segments = [this.#all, this.#blocks[Math.floor((event * blockCount) / this.#expected)]];
    if (earlier <= coldUpTo) segments.push(this.#cold);
    if (earlier === 0) segments.push(this.#new);
    for (const segment of segments) segment.add(place, isKnownUser);
    if (place === undefined) this.#newItemEvents++;
  }

  result(): DynamicResult {
    return {
      events: this.#all.served.count,
      repeats: this.repeats,
      aucServed: this.#all.served.value,
      aucStrict: this.#all.strict.value,
      aucCold: this.#cold.served.value,
      aucColdStrict: this.#cold.strict.value,
      aucNew: this.#new.served.value,
      hitRate10: this.#all.hits.value,
      hitRate10Cold: this.#cold.hits.value,
      hitRate10New: this.#new.hits.value,
      coldEvents: this.#cold.served.count,
      newEvents: this.#new.served.count,
      newItemEvents: this.#newItemEvents,
      blocks: this.#blocks.map(({ served, strict, hits }) => ({
        events: served.count,
        aucServed: served.value,
        aucStrict: strict.value,
        hitRate10: hits.value,
      })),
      fitSeconds: this.fitSeconds,
      updatesPerCpuSecond: this.watch.perCpuSecond(),
    };
  }
}
