/**
 * How good is a model that learns while ratings arrive? The prequential protocol: for each rating
 * of the test block, first ask where the model places the item for that user, then let the model
 * learn the rating. With a delay d the model is always d ratings behind.
 */
import { Mean } from '../metrics/mean.ts';
import { aucOf, hitRateOf, type Place, placeOf } from '../metrics/place.ts';
import { type RatingTable, sliceColumns } from '../rating-table.ts';
import type { StreamingRecommender } from '../recommender.ts';
import { Histories } from './split.ts';
import { CpuStopwatch } from './stopwatch.ts';

interface DynamicOptions {
  /** Ratings before the test block, which the first model learns. */
  readonly train: number;
  readonly test: number;
  readonly delay?: number;
  /** Called with the share done while the first model is fitted. */
  readonly onFit?: (share: number) => void;
  readonly onProgress?: (done: number, soFar: DynamicResult) => void;
}

export type DynamicResult = ReturnType<DynamicMeans['result']>;
/** Of one tenth of the test block. */
export type BlockFigures = DynamicResult['blocks'][number];

export const blockCount = 10;
const coldUpTo = 2;
/** Progress is told after so many events: a few times a second. */
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
  const means = new DynamicMeans(end - train);
  means.fitSeconds = CpuStopwatch.measure(() =>
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
  means.watch.start();
  for (let row = train; row < end; row++) {
    const user = table.user[row];
    const item = table.item[row];
    if (histories.isRepeat[row]) means.repeats++;
    else {
      recommender.scoreAll(user, scores);
      const place =
        item < known ? placeOf(scores, item, known, histories.first(user, rated[user])) : undefined;
      means.add(row - train, place, rated[user], applied[user] > 0);
      rated[user]++;
    }
    const late = row - delay;
    if (late >= train) {
      learn(late);
      means.watch.time(() =>
        recommender.update(table.user[late], table.item[late], table.value[late], table.time[late]),
      );
    }
    const done = row - train + 1;
    if (done % eventsPerReport === 0) options.onProgress?.(done, means.result());
  }
  return means.result();
}

class SegmentMeans {
  readonly served = new Mean();
  readonly strict = new Mean();
  readonly hits = new Mean();

  add(place: Place | undefined, isKnownUser: boolean): void {
    // An item unknown to the model cannot be recommended: its AUC is .5 by definition, and no hit.
    const auc = place === undefined ? 0.5 : aucOf(place);
    this.served.add(auc);
    this.strict.add(isKnownUser || auc === undefined ? auc : 0.5);
    if (auc !== undefined) this.hits.add(place === undefined ? 0 : hitRateOf(place, 10));
  }
}

class DynamicMeans {
  readonly watch = new CpuStopwatch();
  readonly #all = new SegmentMeans();
  readonly #cold = new SegmentMeans();
  readonly #new = new SegmentMeans();
  readonly #blocks = Array.from({ length: blockCount }, () => new SegmentMeans());
  #newItemEvents = 0;
  repeats = 0;
  fitSeconds = 0;

  constructor(private readonly expected: number) {}

  add(event: number, place: Place | undefined, earlier: number, isKnownUser: boolean): void {
    const segments = [this.#all, this.#blocks[Math.floor((event * blockCount) / this.expected)]];
    if (earlier <= coldUpTo) segments.push(this.#cold);
    if (earlier === 0) segments.push(this.#new);
    for (const segment of segments) segment.add(place, isKnownUser);
    if (place === undefined) this.#newItemEvents++;
  }

  result() {
    return {
      events: this.#all.served.count,
      /** Ratings of an item that the user had rated before: learnt, and not asked about. */
      repeats: this.repeats,
      /** Of all users; users without ratings are answered as the live system answers them. */
      aucServed: this.#all.served.value,
      /** The same, but users without ratings count .5, as in the paper. */
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
