/**
 * Exact search over a ranked table. A class is scanned while its longest vector could still reach the
 * worst score kept; the bound allows for the rounding of single precision, so that what is found is what
 * a scan of everything would have found, score for score.
 */

import type { Search } from './kernels.ts';
import { insertBest } from './reference.ts';
import { checkLength } from './reference-table.ts';
import type { WasmExports } from './wasm-instance.ts';
import { type WasmMemory, WasmScratch } from './wasm-memory.ts';
import { SKETCH_MAX, VECTORS_PER_BLOCK, type WasmRankedTable } from './wasm-ranked-table.ts';

/** Queries that share one pass: four of them and two vectors fill the registers. */
const AT_ONCE = 4;
const HEAP_HEADER_BYTES = 16;
/** So many are put in order by insertion, more are sorted first. */
const FEW = 32;
const EPSILON = 2 ** -23;
/** What rounding among denormals can add to a sum of the longest vectors. */
const UNDERFLOW = 1e-42;

/** A query is −32,000 to 32,000 times its scale: 64 products of that and a sketch fit 32 bits. */
const QUERY_MAX = 32_000;
const LEAST_SKETCHED = 1e-30;
/** Scale, allowance, slack and the length of what is left of a query. */
const QUERY_TAIL_BYTES = 16;
/** For each factor: of a score, of the guides of both sides and their sum, of lengths. */
const ROUNDINGS = 8;

interface Running {
  readonly search: Search;
  readonly bit: number;
  readonly room: number;
  readonly heap: number;
  /** ‖query‖, with room for the rounding of a score. */
  readonly norm: number;
}

export class WasmSearch {
  readonly #memory: WasmMemory;
  readonly #exports: WasmExports;
  readonly #queries: WasmScratch;
  readonly #heaps: WasmScratch;

  constructor(memory: WasmMemory, exports: WasmExports) {
    this.#memory = memory;
    this.#exports = exports;
    this.#queries = new WasmScratch(memory);
    this.#heaps = new WasmScratch(memory);
  }

  run(searches: readonly Search[], table: WasmRankedTable): void {
    for (let first = 0; first < searches.length; first += AT_ONCE) {
      this.#pass(searches.slice(first, first + AT_ONCE), table);
    }
  }

  slotsScoring(query: Float32Array, score: number, table: WasmRankedTable): number[] {
    checkLength(query.length, table.factorCount);
    const address = this.#queries.atLeast(table.stride + 4 * VECTORS_PER_BLOCK);
    this.#put(query, address, table.stride);
    const norm = paddedNorm(query);
    const scores = address + table.stride;
    const { f32, u32 } = this.#memory;
    const found: number[] = [];
    for (const { longest, blocks, count } of table.classes) {
      if (norm * longest + UNDERFLOW < score) break;
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
    return found;
  }

  scoresOf(
    query: Float32Array,
    slots: ArrayLike<number>,
    table: WasmRankedTable,
    out: Float32Array,
  ): void {
    checkLength(query.length, table.factorCount);
    const address = this.#queries.atLeast(table.stride + 4 * VECTORS_PER_BLOCK);
    this.#put(query, address, table.stride);
    const score = address + table.stride;
    for (let e = 0; e < slots.length; e++) {
      this.#exports.scan(address, table.address(slots[e]), 1, score, table.stride);
      out[e] = this.#memory.f32[score / 4];
    }
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
      const { query } = search;
      checkLength(query.length, table.factorCount);
      this.#putSketched(query, queries + nth * apart, table);
      const heap = next;
      const room = rooms[nth];
      next += heapBytes[nth];
      this.#openHeap(heap, room);
      return { search, bit: 1 << nth, room, heap, norm: paddedNorm(query) };
    });
    // What stands in for a fourth query that is not there finds nothing.
    this.#openHeap(heaps, 0);
    this.#mark(running, table, true);
    this.#descend(running, table, queries, heaps);
    this.#mark(running, table, false);
    for (const each of running) this.#take(each);
  }

  /** From the longest vectors down, until no query can gain. */
  #descend(running: readonly Running[], table: WasmRankedTable, queries: number, idle: number) {
    const { f32 } = this.#memory;
    const { skip, stride, classes } = table;
    const apart = queryBytes(table);
    const wide = 2 * table.sketchStride;
    const along = table.boxSide;
    const slack = (queries + stride + wide) / 4 + 2;
    const [h0, h1, h2, h3] = [0, 1, 2, 3].map((nth) => running[nth]?.heap ?? idle);
    for (let at = 0; at < classes.length; at++) {
      const { blocks, count, longest } = classes[at];
      if (count === 0) continue;
      let open = 0;
      for (let nth = 0; nth < running.length; nth++) {
        const threshold = running[nth].heap / 4 + 2;
        const bound = running[nth].norm * longest + UNDERFLOW;
        f32[slack + (nth * apart) / 4] =
          ROUNDINGS * EPSILON * table.factorCount * bound + UNDERFLOW;
        if (bound < f32[threshold]) f32[threshold] = Number.POSITIVE_INFINITY;
        else if (f32[threshold] < Number.POSITIVE_INFINITY) open++;
      }
      if (open === 0) return;
      for (let nth = 0; nth < blocks.length; nth++) {
        const here = Math.min(VECTORS_PER_BLOCK, count - nth * VECTORS_PER_BLOCK);
        if (running.length === 1) {
          this.#exports.rankOne(queries, blocks[nth], here, stride, wide, along, h0, skip);
        } else {
          const block = blocks[nth];
          const sizes = [here, stride, wide, along] as const;
          this.#exports.rankFour(queries, apart, block, ...sizes, h0, h1, h2, h3, skip);
        }
      }
    }
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

  #openHeap(heap: number, room: number): void {
    const { f32, u32 } = this.#memory;
    u32[heap / 4] = 0;
    u32[heap / 4 + 1] = room;
    f32[heap / 4 + 2] = room === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
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

  /** A query as the kernels take it: in f32, in i16, its scale, its allowance. */
  #putSketched(query: Float32Array, address: number, table: WasmRankedTable): void {
    this.#put(query, address, table.stride);
    const { f32, i16 } = this.#memory;
    const integers = address + table.stride;
    const k = query.length;
    let largest = 0;
    let sum = 0;
    for (let f = 0; f < k; f++) {
      const size = Math.abs(query[f]);
      largest = Math.max(largest, size);
      sum += size;
    }
    const isOrdinary = largest > LEAST_SKETCHED;
    const scale = isOrdinary ? Math.fround(largest / QUERY_MAX) : 0;
    for (let f = 0; f < k; f++) {
      i16[integers / 2 + f] = isOrdinary ? Math.round(query[f] / scale) : 0;
    }
    // Half a step of the sketch in each factor, half a step of the query likewise, and all rounding;
    // a query too small for integers is bounded by its allowance alone.
    const halfSteps = sum / 2 + (scale / 2) * SKETCH_MAX * k;
    const rounding = (k + 32) * EPSILON * paddedNorm(query) * SKETCH_MAX * Math.sqrt(k);
    const whole = isOrdinary ? 0 : sum * SKETCH_MAX;
    const end = (integers + 2 * table.sketchStride) / 4;
    f32[end] = scale;
    f32[end + 1] = (halfSteps + rounding + whole) * (1 + 4 * EPSILON) + LEAST_SKETCHED;
    const along = f32.subarray(end + 4, end + 4 + table.guides);
    f32[end + 3] = table.split(query, along);
  }

  #put(vector: Float32Array, address: number, stride: number): void {
    const { f32 } = this.#memory;
    f32.fill(0, address / 4, (address + stride) / 4);
    f32.set(vector, address / 4);
  }
}

function queryBytes({ stride, sketchStride, boxSide }: WasmRankedTable): number {
  return stride + 2 * sketchStride + QUERY_TAIL_BYTES + boxSide;
}

/** Cauchy–Schwarz bounds the exact product; a sum of k rounded products may exceed it by k roundings. */
function paddedNorm(query: Float32Array): number {
  let square = 0;
  for (let f = 0; f < query.length; f++) square += query[f] * query[f];
  return Math.sqrt(square) * (1 + (query.length + 8) * EPSILON);
}
