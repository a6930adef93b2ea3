/** What can be asked of `freshet import`, and of any command that imports first. */
export const importHelp = `freshet import FILE [options]

Sends the ratings of a file to a topic that ratings come from, each with its own time. FILE is
user::item::rating::time, CSV, TSV, JSON lines or review blocks, plain or gzip; - is standard input.

  --topic NAME     one of RATINGS_TOPICS; the first of them if absent
  --by-time        sort by time first, as a live stream would have come; reads the file into memory
  --format NAME    double-colon, csv, tsv, semicolon, json or reviews; told by the first line if absent
  --columns LIST   where each field is, e.g. user=reviewer,item=asin,value=stars,time=4
  --again          send the file although an import of it was finished, or start an unfinished one over
  --wait           wait until every rating is applied on both sides
  --quiet          no progress on standard error

An import that was interrupted goes on where it stopped when the same command is given again: how far it
came is kept in the cache folder, by file, topic and brokers (the path is told at the start). Standard
input cannot be continued. A line that is no rating is told and skipped; more than 1 % of them stops the
import.

Exit code: 0 done, 1 could not be imported (or, with --wait, not applied), 130 interrupted.
`;

export const importOptions = {
  topic: { type: 'string' },
  'by-time': { type: 'boolean', default: false },
  format: { type: 'string' },
  columns: { type: 'string' },
  again: { type: 'boolean', default: false },
  wait: { type: 'boolean', default: false },
  quiet: { type: 'boolean', default: false },
} as const;

export interface ImportRequest {
  readonly path: string;
  readonly topic?: string | undefined;
  readonly 'by-time': boolean;
  readonly format?: string | undefined;
  readonly columns?: string | undefined;
  readonly again: boolean;
  readonly quiet: boolean;
}
