/** How a file of ratings is to be read, as `freshet evaluate`, `import` and `up` are told. */
import {
  type Columns,
  type DateOrder,
  dateOrders,
  type Format,
  fields,
  formats,
  type ReadOptions,
} from '@freshet/ratings-files';
import { helpRow } from './help-row.ts';
import { WrongUsage } from './operator-command.ts';

/** As the operator wrote them. */
export interface GivenReading {
  readonly format?: string | undefined;
  readonly columns?: string | undefined;
  readonly dates?: string | undefined;
}

/** What all help texts say of these options, and of the files. */
export const readingHelp = {
  file: 'user::item::rating::time, CSV, TSV, JSON lines or review blocks, plain or gzip',
  format: `${formats.slice(0, -1).join(', ')} or ${formats.at(-1)}; detected from the first line if absent`,
  columns:
    'where each field is, by name or number from 1: user=reviewer,item=asin,value=stars,time=4; value=none if there are no values; kind=event with RATING_KINDS',
  dates:
    'what comes first in dates like 3/4/2024, day-first or month-first; detected from the first lines if absent',
} as const;

/** The rows of these options in a help text whose left column has 15 characters. */
export const readingRows = (['format', 'columns', 'dates'] as const)
  .map((name) =>
    helpRow(`--${name} ${name === 'columns' ? 'LIST' : 'NAME'}`, readingHelp[name], 15),
  )
  .join('\n');

export function readingOf(given: GivenReading): Pick<ReadOptions, keyof GivenReading> {
  return {
    format: nameOption<Format>('format', given.format, formats),
    columns: columnsOption(given.columns),
    dates: nameOption<DateOrder>('dates', given.dates, dateOrders),
  };
}

function nameOption<T extends string>(
  option: string,
  given: string | undefined,
  names: readonly T[],
): T | undefined {
  const name = names.find((known) => known === given);
  if (given === undefined || name !== undefined) return name;
  throw new WrongUsage(`--${option} must be one of ${names.join(', ')}, not ${given}`);
}

function columnsOption(text: string | undefined): Columns {
  if (text === undefined) return {};
  const pairs = text.split(',').map((pair) => {
    const [, field = '', column = ''] = /^(\w+)=(.+)$/.exec(pair) ?? [];
    if (fields.some((name) => name === field)) return [field, column.trim()];
    throw new WrongUsage(
      `--columns must be like user=reviewer,item=asin,value=3,time=4, not ${pair}`,
    );
  });
  return Object.fromEntries(pairs) as Columns;
}

/** Lines beyond these are counted and not printed. */
const LINES_TOLD = 10;

/** Prints the first lines that are no ratings, and counts them all. */
export class SkippedLines {
  count = 0;

  constructor(private readonly path: string) {}

  readonly add = (line: number, reason: string): void => {
    if (++this.count <= LINES_TOLD) {
      process.stderr.write(`${this.path}, line ${line}: ${reason}; skipped\n`);
    }
  };

  /** Says how many there are if not all were printed. */
  tellRest(): void {
    if (this.count <= LINES_TOLD) return;
    process.stderr.write(`${this.path}: ${this.count} lines are no ratings and were skipped\n`);
  }
}
