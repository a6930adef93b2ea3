/** The ratings of a file as `freshet import` sends them: as they lie, or in order of time. */
import { loadTable } from '@freshet/experiments';
import {
  type Columns,
  type FileRating,
  type Format,
  formats,
  type ReadOptions,
  readRatingBatches,
} from '@freshet/ratings-files';
import { CannotWork } from '../operator-command.ts';

interface FileOptions {
  readonly path: string;
  readonly format: string | undefined;
  readonly columns: string | undefined;
  readonly byTime: boolean;
}

type Batches = AsyncGenerator<readonly FileRating[], void>;
interface Watch extends Pick<ReadOptions, 'onProgress' | 'onMalformed'> {
  /** How many ratings there are, once that is known: when they are sorted. */
  readonly onTotal: (ratings: number) => void;
}

const SORTED_BATCH = 4_096;

export function fileRatings(options: FileOptions, watch: Watch): Batches {
  const { path, format, columns, byTime } = options;
  const { onTotal, ...reading } = watch;
  const batches = readRatingBatches(path, {
    ...reading,
    ...(format === undefined ? {} : { format: formatOf(format) }),
    ...(columns === undefined ? {} : { columns: columnsOf(columns) }),
  });
  return byTime ? sortedByTime(batches, onTotal) : batches;
}

async function* sortedByTime(batches: Batches, onTotal: Watch['onTotal']): Batches {
  const { user, item, value, time, users, items, timed } = await loadTable(batches);
  onTotal(user.length);
  for (let from = 0; from < user.length; from += SORTED_BATCH) {
    const batch: FileRating[] = [];
    for (let at = from; at < Math.min(from + SORTED_BATCH, user.length); at++) {
      batch.push({
        user: users[user[at] ?? -1] ?? '',
        item: items[item[at] ?? -1] ?? '',
        value: value[at] ?? Number.NaN,
        time: timed ? time[at] : undefined,
      });
    }
    yield batch;
  }
}

function formatOf(name: string): Format {
  const found = formats.find((format) => format === name);
  if (found === undefined) throw new CannotWork(`--format must be one of ${formats.join(', ')}`);
  return found;
}

function columnsOf(text: string): Columns {
  const columns: Record<string, string> = {};
  for (const pair of text.split(',')) {
    const [field = '', column = ''] = pair.split('=');
    if (!['user', 'item', 'value', 'time'].includes(field) || column === '') {
      throw new CannotWork(
        `--columns must be like user=reviewer,item=asin,value=3,time=4, not ${pair}`,
      );
    }
    columns[field] = column;
  }
  return columns;
}
