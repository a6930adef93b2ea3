/**
 * Exact search over a ranked table. A class is scanned while its longest vector could still reach the
 * worst score kept; all bounds allow for the rounding of single precision, so that what is found is what
 * a scan of everything would have found, score for score.
 */

import { MAX_FACTOR_COUNT, type Search } from './kernels.ts';
import { insertBest } from './reference.ts';
import { checkLength } from './reference-table.ts';
import type { WasmExports } from './wasm-instance.ts';
import type { WasmLayout } from './wasm-layout.ts';
import { type WasmMemory, WasmScratch } from './wasm-memory.ts';
import { HEAD, VECTORS_PER_BLOCK, type WasmRankedTable } from './wasm-ranked-table.ts';

/** Queries that share one pass: four of them and two vectors fill the registers. */
const AT_ONCE = 4;
const HEAP_HEADER_BYTES = 16;
/** So many are put in order by insertion, more are sorted first. */
const FEW = 32;
const EPSILON = 2 ** -23;
/** A query is −32,000 to 32,000 times its scale: 256 products of that and a sketch fit 32 bits. */
const QUERY_MAX = 32_000;
/** What a factor of a sketch goes up to. */
const SKETCH_MAX = 127;
const LEAST_SKETCHED = 1e-30;
/** Nine, and padding; see rank.ts. */
const QUERY_FIGURES = 12;
/** Roundings of the bounds themselves. */
const ROUNDINGS = 32;

interface Running {
  readonly search: Search;
  readonly bit: number;
  readonly room: number;
  readonly heap: number;
  /** Where its query lies. */
  readonly address: number;
}

export class WasmSearch {
  readonly #memory: WasmMemory;
  readonly #exports: WasmExports;
  readonly #queries: WasmScratch;
  readonly #heaps: WasmScratch;
  /** Address of the transform of the query that is looked at. */
  readonly #turned: number;

  constructor(memory: WasmMemory, exports: WasmExports) {
    this.#memory = memory;
    this.#exports = exports;
    this.#queries = new WasmScratch(memory);
    this.#heaps = new WasmScratch(memory);
    this.#turned = memory.allocate(4 * MAX_FACTOR_COUNT);
  }

  run(searches: readonly Search[], table: WasmRankedTable): void {
    for (let first = 0; first < searches.length; first += AT_ONCE) {
      this.#pass(searches.slice(first, first + AT_ONCE), table);
    }
  }

  slotsScoring(query: Float32Array, score: number, table: WasmRankedTable): number[] {
    checkLength(query.length, table.factorCount);
    const address = this.#queries.atLeast(queryBytes(table) + 4 * VECTORS_PER_BLOCK);
    const scores = address + queryBytes(table);
    const { f32, u32 } = this.#memory;
    const found: number[] = [];
    this.#put(query, address, table.stride);
    for (const layout of table.layouts) {
      const mostAt = this.#turn(query, address, table, layout);
      for (const { longest, blocks, count } of layout.classes) {
        if (mostAt(longest) < score) break;
        blocks.forEach((block, nth) => {
          const here = Math.min(VECTORS_PER_BLOCK, count - nth * VECTORS_PER_BLOCK);
          this.#exports.scan(address, block, here, scores, table.stride);
          for (let i = 0; i < here; i++) {
            if (f32[scores / 4 + i] !== score) continue;
            const slot = u32[(table.slotsOfBlock(block) >>> 2) + i];
            if (!table.isHidden(slot)) found.push(slot);
          }
        });
      }
    }
    return found;
  }

  scoresOf(
    query: Float32Array,
    slots: ArrayLike<number>,
    table: WasmRankedTable,
    out: Float32Array,
  ): void {
    checkLength(query.length, table.factorCount);
    if (slots.length === 0) return;
    const count = Math.ceil(slots.length / 4) * 4;
    const address = this.#queries.atLeast(table.stride + 8 * count);
    this.#put(query, address, table.stride);
    const places = address + table.stride;
    const scores = places + 4 * count;
    const { u32, f32 } = this.#memory;
    for (let e = 0; e < count; e++) {
      // Four at a time: the last one fills up.
      u32[places / 4 + e] = table.address(slots[Math.min(e, slots.length - 1)]);
    }
    this.#exports.scanAt(address, places, count, scores, table.stride);
    for (let e = 0; e < slots.length; e++) out[e] = f32[scores / 4 + e];
  }

  #pass(searches: readonly Search[], table: WasmRankedTable): void {
    const rooms = searches.map(({ best }) => Math.min(best.slots.length, table.size));
    const heapBytes = rooms.map((room) => HEAP_HEADER_BYTES + 8 * room);
    const total = heapBytes.reduce((sum, bytes) => sum + bytes, HEAP_HEADER_BYTES);
    const apart = queryBytes(table);
    const queries = this.#queries.atLeast(AT_ONCE * apart);
    const heaps = this.#heaps.atLeast(total);
    this.#memory.u8.fill(0, queries, queries + AT_ONCE * apart);
    let next = heaps + HEAP_HEADER_BYTES;
    const running = searches.map((search, nth): Running => {
      const { query, atLeast = Number.NEGATIVE_INFINITY } = search;
      checkLength(query.length, table.factorCount);
      table.ask(query);
      const [heap, room] = [next, rooms[nth]];
      const address = queries + nth * apart;
      next += heapBytes[nth];
      this.#put(query, address, table.stride);
      this.#openHeap(heap, room, atLeast);
      return { search, bit: 1 << nth, room, heap, address };
    });
    // What stands in for a fourth query that is not there finds nothing.
    this.#openHeap(heaps, 0, Number.POSITIVE_INFINITY);
    this.#mark(running, table, true);
    for (const layout of table.layouts) this.#descend(running, table, layout, heaps);
    this.#mark(running, table, false);
    for (const each of running) this.#take(each);
  }

  /** From the longest vectors of a layout down, until no query can gain. */
  #descend(
    running: readonly Running[],
    table: WasmRankedTable,
    layout: WasmLayout,
    idle: number,
  ): void {
    const { skip, stride, tailStride } = table;
    for (const { search, address } of running) this.#turn(search.query, address, table, layout);
    const queries = running[0].address;
    const [h0, h1, h2, h3] = [0, 1, 2, 3].map((nth) => running[nth]?.heap ?? idle);
    const where = [layout.directory, layout.classes.length, stride, tailStride] as const;
    if (running.length === 1) this.#exports.rankOne(queries, ...where, h0, skip);
    else this.#exports.rankFour(queries, queryBytes(table), ...where, h0, h1, h2, h3, skip);
  }

  /** Sets or clears, for each query, its bit on the slots it leaves out. */
  #mark(running: readonly Running[], table: WasmRankedTable, set: boolean): void {
    const { u8 } = this.#memory;
    for (const { search, bit } of running) {
      for (const slot of search.excluded) {
        if (slot >= table.slotEnd) continue;
        if (set) u8[table.skip + slot] |= bit;
        else u8[table.skip + slot] &= ~bit;
      }
    }
  }

  #openHeap(heap: number, room: number, atLeast: number): void {
    const { f32, u32 } = this.#memory;
    u32[heap / 4] = 0;
    u32[heap / 4 + 1] = room;
    f32[heap / 4 + 2] = room === 0 ? Number.POSITIVE_INFINITY : atLeast;
    f32[heap / 4 + 3] = Number.NEGATIVE_INFINITY;
  }

  #take({ search, room, heap }: Running): void {
    const { f32, u32 } = this.#memory;
    const { best } = search;
    const filled = u32[heap / 4];
    const scores = heap / 4 + 4;
    const order = Array.from({ length: filled }, (_, at) => at);
    if (filled > FEW) order.sort((a, b) => f32[scores + b] - f32[scores + a]);
    best.length = 0;
    for (let nth = 0; nth < filled; nth++) {
      const from = order[nth];
      insertBest(best, u32[scores + room + from], f32[scores + from]);
    }
    search.tied = filled > 0 && f32[heap / 4 + 3] === best.scores[filled - 1];
  }

  /** Puts the transform of a query behind it, as the kernels take it; the most that a vector so long can score. */
  #turn(
    query: Float32Array,
    address: number,
    table: WasmRankedTable,
    layout: WasmLayout,
  ): (length: number) => number {
    const { f32 } = this.#memory;
    layout.turnQuery(address, this.#turned);
    const turned = f32.subarray(this.#turned / 4, this.#turned / 4 + query.length);
    const integers = address + table.stride;
    const head = turned.subarray(1, 1 + HEAD);
    const tail = turned.subarray(1 + HEAD);
    const scale = this.#sketch(head, integers);
    const tailScale = this.#sketch(tail, integers + 2 * HEAD);
    const length = norm(turned);
    const slack =
      EPSILON * (layout.roundings(norm(query), turned) + ROUNDINGS * length) + LEAST_SKETCHED;
    const least = LEAST_SKETCHED * (1 + length);
    const figures = (address + queryBytes(table)) / 4 - QUERY_FIGURES;
    f32[figures] = turned[0];
    f32[figures + 1] = scale;
    f32[figures + 2] = norm(tail) * (1 + 2 * EPSILON);
    f32[figures + 3] = tailScale;
    f32[figures + 4] = allowance(head, scale);
    f32[figures + 5] = allowance(tail, tailScale);
    f32[figures + 6] = length;
    f32[figures + 7] = slack;
    f32[figures + 8] = least;
    return (each) => (length + slack) * each + least;
  }

  /** Some coordinates in i16; returns their scale, or 0 where they are too small for integers. */
  #sketch(part: Float32Array, integers: number): number {
    const { i16 } = this.#memory;
    let largest = 0;
    for (let f = 0; f < part.length; f++) largest = Math.max(largest, Math.abs(part[f]));
    const scale = largest > LEAST_SKETCHED ? Math.fround(largest / QUERY_MAX) : 0;
    for (let f = 0, at = integers / 2; f < part.length; f++, at++) {
      i16[at] = scale > 0 ? Math.round(part[f] / scale) : 0;
    }
    return scale;
  }

  #put(vector: Float32Array, address: number, stride: number): void {
    const { f32 } = this.#memory;
    f32.fill(0, address / 4, (address + stride) / 4);
    f32.set(vector, address / 4);
  }
}

function queryBytes({ stride, tailStride }: WasmRankedTable): number {
  return stride + 2 * (HEAD + tailStride) + 4 * QUERY_FIGURES;
}

/**
 * By how many scales of a sketch the product of integers may fall short: half a step of the sketch in each
 * coordinate, half a step of the query likewise, and all rounding; all of it for a query too small for integers.
 */
function allowance(part: Float32Array, scale: number): number {
  const count = part.length;
  let sum = 0;
  for (let f = 0; f < count; f++) sum += Math.abs(part[f]);
  const halfSteps = sum / 2 + (scale / 2) * SKETCH_MAX * count;
  const rounding = (count + 32) * EPSILON * sum * SKETCH_MAX;
  const whole = scale > 0 ? 0 : sum * SKETCH_MAX;
  return (halfSteps + rounding + whole) * (1 + 4 * EPSILON) + LEAST_SKETCHED;
}

function norm(vector: Float32Array): number {
  let square = 0;
  for (let f = 0; f < vector.length; f++) square += vector[f] * vector[f];
  return Math.sqrt(square);
}
