/** The ratings of a file as `freshet import` sends them: in the order of the file, or by time. */
import type { RatingKinds } from '@freshet/events';
import { loadTable } from '@freshet/experiments';
import { type FileRating, type ReadOptions, readRatingBatches } from '@freshet/ratings-files';
import { type GivenReading, readingOf } from '../ratings-file-options.ts';

/** A file, and how the operator says that it is to be read. */
export interface RatingsFile extends GivenReading {
  readonly path: string;
  /** What each kind of event is worth: RATING_KINDS. */
  readonly kinds: RatingKinds;
}

type Batches = AsyncGenerator<readonly FileRating[], void>;
interface Watch extends Pick<ReadOptions, 'onProgress' | 'onMalformed' | 'onLack'> {
  /** Called with the number of ratings once they are sorted; it is not known before. */
  readonly onTotal: (ratings: number) => void;
}

const SORTED_BATCH = 4_096;

export function fileRatings(
  { path, kinds, ...reading }: RatingsFile,
  byTime: boolean,
  { onTotal, ...watch }: Watch,
): Batches {
  const batches = readRatingBatches(path, { ...readingOf(reading), kinds, ...watch });
  return byTime ? sortedByTime(batches, onTotal) : batches;
}

async function* sortedByTime(batches: Batches, onTotal: Watch['onTotal']): Batches {
  const { user, item, value, time, users, items, timed } = await loadTable(batches);
  onTotal(user.length);
  for (let from = 0; from < user.length; from += SORTED_BATCH) {
    const batch: FileRating[] = [];
    for (let at = from; at < Math.min(from + SORTED_BATCH, user.length); at++) {
      batch.push({
        user: users[user[at] as number] as string,
        item: items[item[at] as number] as string,
        value: Number.isNaN(value[at]) ? null : (value[at] as number),
        time: timed ? time[at] : undefined,
      });
    }
    yield batch;
  }
}
