/**
 * Holds the ratings of an experiment as columns in order of time. Users and items are numbered by
 * first appearance, so that what is known after r ratings is a prefix. Threads share the columns.
 */
import { Random } from '@freshet/model';
import type { FileRating } from '@freshet/ratings-files';

/** Some ratings of a table, in order of time. */
export interface RatingColumns {
  readonly user: Uint32Array;
  readonly item: Uint32Array;
  /** NaN: the event takes the rating back. */
  readonly value: Float32Array;
  /** ms */
  readonly time: Float64Array;
}

/** Ids by number. */
export interface RatingIds {
  readonly users: readonly string[];
  readonly items: readonly string[];
}

export interface RatingTable extends RatingColumns, RatingIds {
  /** False when the file had no times and its lines are taken to be in order. */
  readonly timed: boolean;
}

interface TableOptions {
  /** Seed of a shuffle of ratings with equal times; by default they keep the order of the file. */
  readonly shuffleTies?: number;
}

export async function loadTable(
  batches: AsyncIterable<readonly FileRating[]> | Iterable<readonly FileRating[]>,
  options: TableOptions = {},
): Promise<RatingTable> {
  const builder = new TableBuilder();
  for await (const batch of batches) for (const rating of batch) builder.add(rating);
  return builder.finish(options);
}

/** Ratings `from` up to and not including `to`; shares the memory of the table. */
export function sliceColumns(table: RatingColumns, from: number, to: number): RatingColumns {
  return {
    user: table.user.subarray(from, to),
    item: table.item.subarray(from, to),
    value: table.value.subarray(from, to),
    time: table.time.subarray(from, to),
  };
}

const columnNames = ['user', 'item', 'value', 'time'] as const;

export function selectColumns(table: RatingColumns, rows: Uint32Array): RatingColumns {
  const columns = allocate(rows.length);
  for (const name of columnNames) {
    const [from, to] = [table[name], columns[name]];
    for (let i = 0; i < rows.length; i++) to[i] = from[rows[i]];
  }
  return columns;
}

/** The ratings of each user, or of each item: one row after another in the same arrays. */
export interface Rows {
  /** The row of owner o goes from start[o] up to and not including start[o + 1]. */
  readonly start: Uint32Array;
  readonly neighbour: Uint32Array;
  readonly value: Float32Array;
}

/** Groups ratings by owner; within a row they stay in their order. */
export function rowsOf(
  owners: Uint32Array,
  neighbours: Uint32Array,
  values: Float32Array,
  ownerCount: number,
): Rows {
  const start = new Uint32Array(ownerCount + 1);
  for (const owner of owners) start[owner + 1]++;
  for (let owner = 0; owner < ownerCount; owner++) start[owner + 1] += start[owner];
  const next = start.slice(0, ownerCount);
  const neighbour = new Uint32Array(owners.length);
  const value = new Float32Array(owners.length);
  for (let rating = 0; rating < owners.length; rating++) {
    const at = next[owners[rating]]++;
    neighbour[at] = neighbours[rating];
    value[at] = values[rating];
  }
  return { start, neighbour, value };
}

function allocate(count: number): RatingColumns {
  const shared = (bytes: number) => new SharedArrayBuffer(count * bytes);
  return {
    user: new Uint32Array(shared(4)),
    item: new Uint32Array(shared(4)),
    value: new Float32Array(shared(4)),
    time: new Float64Array(shared(8)),
  };
}

class TableBuilder {
  readonly #users = new Map<string, number>();
  readonly #items = new Map<string, number>();
  #columns = allocate(1 << 16);
  #count = 0;
  #timed = false;

  add(rating: FileRating): void {
    if (this.#count === this.#columns.user.length) {
      const larger = allocate(2 * this.#count);
      for (const name of columnNames) larger[name].set(this.#columns[name]);
      this.#columns = larger;
    }
    const at = this.#count++;
    this.#columns.user[at] = numberOf(rating.user, this.#users);
    this.#columns.item[at] = numberOf(rating.item, this.#items);
    this.#columns.value[at] = rating.value ?? Number.NaN;
    if (rating.time !== undefined) this.#timed = true;
    // A line without a time gets the time of the line before.
    this.#columns.time[at] = rating.time ?? (at > 0 ? this.#columns.time[at - 1] : 0);
  }

  finish({ shuffleTies }: TableOptions): RatingTable {
    const read = sliceColumns(this.#columns, 0, this.#count);
    const order = orderByTime(read.time);
    // Without times all rows have the same time: a shuffle would lose the order of the lines.
    if (shuffleTies !== undefined && this.#timed) shuffleEqual(order, read.time, shuffleTies);
    const columns = selectColumns(read, order);
    return {
      ...columns,
      users: renumber(columns.user, [...this.#users.keys()]),
      items: renumber(columns.item, [...this.#items.keys()]),
      timed: this.#timed,
    };
  }
}

function numberOf(id: string, numbers: Map<string, number>): number {
  const known = numbers.get(id);
  if (known !== undefined) return known;
  numbers.set(id, numbers.size);
  return numbers.size - 1;
}

function orderByTime(time: Float64Array): Uint32Array {
  const order = Uint32Array.from({ length: time.length }, (_, row) => row);
  const sorted = time.every((at, row) => row === 0 || time[row - 1] <= at);
  return sorted ? order : order.sort((a, b) => time[a] - time[b] || a - b);
}

/** Shuffles each stretch of rows that have the same time, in place. */
function shuffleEqual(order: Uint32Array, time: Float64Array, seed: number): void {
  const random = new Random(seed);
  let start = 0;
  for (let at = 1; at <= order.length; at++) {
    if (at < order.length && time[order[at]] === time[order[start]]) continue;
    random.shuffle(order.subarray(start, at));
    start = at;
  }
}

/** Renumbers a column by first appearance, in place; returns the ids in the new order. */
function renumber(column: Uint32Array, ids: readonly string[]): string[] {
  const unseen = 2 ** 32 - 1;
  const numbers = new Uint32Array(ids.length).fill(unseen);
  const ordered: string[] = [];
  for (let row = 0; row < column.length; row++) {
    const old = column[row];
    if (numbers[old] === unseen) {
      numbers[old] = ordered.length;
      ordered.push(ids[old]);
    }
    column[row] = numbers[old];
  }
  return ordered;
}
