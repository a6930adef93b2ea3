/**
 * Exact search over a ranked table. A class is scanned if its longest vector could still reach the
 * worst score on the list. All bounds allow for single precision rounding, so a search returns
 * exactly the scores that a scan of all vectors would return.
 */

import { MAX_FACTOR_COUNT, type Search } from './kernels.ts';
import { checkLength } from './reference-table.ts';
import type { WasmExports } from './wasm-instance.ts';
import type { WasmLayout } from './wasm-layout.ts';
import { type WasmMemory, WasmScratch } from './wasm-memory.ts';
import { HEAD, HIDDEN, VECTORS_PER_BLOCK, type WasmRankedTable } from './wasm-ranked-table.ts';

/** Queries that share one pass: four queries and two vectors fill the SIMD registers. */
const AT_ONCE = 4;
const HEAP_HEADER_BYTES = 16;
/** Nine figures and padding; see rank.ts. */
const QUERY_FIGURES = 12;
/** The last three: the query's length, and the rounding slack per length and constant. */
const LENGTH_FIGURE = 6;

export class WasmSearch {
  readonly #memory: WasmMemory;
  readonly #exports: WasmExports;
  readonly #queries: WasmScratch;
  readonly #heaps: WasmScratch;
  /** Address of the transform of the current query. */
  readonly #transformed: number;

  constructor(memory: WasmMemory, exports: WasmExports) {
    this.#memory = memory;
    this.#exports = exports;
    this.#queries = new WasmScratch(memory);
    this.#heaps = new WasmScratch(memory);
    this.#transformed = memory.allocate(4 * MAX_FACTOR_COUNT);
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
      layout.transformQuery(address, table.tailStride, this.#transformed);
      const at = (address + queryBytes(table)) / 4 - QUERY_FIGURES + LENGTH_FIGURE;
      const [length, slack, least] = f32.subarray(at, at + 3);
      for (const { longest, blocks, count } of layout.classes) {
        if ((length + slack) * longest + least < score) break;
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
      // The kernel takes four at a time, so the last slot is repeated as padding.
      u32[places / 4 + e] = table.address(slots[Math.min(e, slots.length - 1)]);
    }
    this.#exports.rowDots(address, places, 4 * count, scores, table.stride);
    for (let e = 0; e < slots.length; e++) out[e] = f32[scores / 4 + e];
  }

  #pass(searches: readonly Search[], table: WasmRankedTable): void {
    const apart = queryBytes(table);
    const queries = this.#queries.atLeast(AT_ONCE * apart);
    const heaps = this.#openHeaps(searches, table);
    for (let nth = 0; nth < searches.length; nth++) {
      const { query, excluded } = searches[nth];
      checkLength(query.length, table.factorCount);
      table.ask(query);
      this.#put(query, queries + nth * apart, table.stride);
      this.#mark(excluded, 1 << nth, table);
    }
    for (const layout of table.layouts) {
      for (let nth = 0; nth < searches.length; nth++) {
        layout.transformQuery(queries + nth * apart, table.tailStride, this.#transformed);
      }
      this.#descend(searches.length, queries, heaps, table, layout);
    }
    for (let nth = 0; nth < searches.length; nth++) {
      this.#unmark(searches[nth].excluded, table);
      this.#take(searches[nth], heaps[nth]);
    }
  }

  /** Prepares four heaps and returns their addresses. Those without a search have no room. */
  #openHeaps(searches: readonly Search[], table: WasmRankedTable): number[] {
    const roomOf = (nth: number) => Math.min(searches[nth]?.best.slots.length ?? 0, table.size);
    const heaps: number[] = [];
    let bytes = 0;
    for (let nth = 0; nth < AT_ONCE; nth++) {
      heaps.push(bytes);
      bytes += HEAP_HEADER_BYTES + 8 * roomOf(nth);
    }
    const first = this.#heaps.atLeast(bytes);
    const { f32, u32 } = this.#memory;
    for (let nth = 0; nth < AT_ONCE; nth++) {
      heaps[nth] += first;
      const heap = heaps[nth] / 4;
      const room = roomOf(nth);
      u32[heap] = 0;
      u32[heap + 1] = room;
      f32[heap + 2] = room === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
      f32[heap + 3] = Number.NEGATIVE_INFINITY;
    }
    return heaps;
  }

  /** Scans a layout from the longest vectors down, until no query can still find a better one. */
  #descend(
    count: number,
    queries: number,
    [h0, h1, h2, h3]: readonly number[],
    table: WasmRankedTable,
    { directory, classes }: WasmLayout,
  ): void {
    const { skip, stride, tailStride: tail } = table;
    const { rankOne, rankFour } = this.#exports;
    if (count === 1) return rankOne(queries, directory, classes.length, stride, tail, h0, skip);
    const apart = queryBytes(table);
    rankFour(queries, apart, directory, classes.length, stride, tail, h0, h1, h2, h3, skip);
  }

  /** Sets the bit of a query on the slots that it excludes. */
  #mark(excluded: readonly number[], bit: number, { skip, slotEnd }: WasmRankedTable): void {
    const { u8 } = this.#memory;
    for (let e = 0; e < excluded.length; e++) {
      if (excluded[e] < slotEnd) u8[skip + excluded[e]] |= bit;
    }
  }

  /** Clears the bits of all queries on these slots and keeps HIDDEN. */
  #unmark(excluded: readonly number[], { skip, slotEnd }: WasmRankedTable): void {
    const { u8 } = this.#memory;
    for (let e = 0; e < excluded.length; e++) {
      if (excluded[e] < slotEnd) u8[skip + excluded[e]] &= HIDDEN;
    }
  }

  #take(search: Search, heap: number): void {
    this.#exports.order(heap);
    const { f32, u32 } = this.#memory;
    const { best } = search;
    const [filled, room] = [u32[heap / 4], u32[heap / 4 + 1]];
    const scores = heap / 4 + 4;
    const slots = scores + room;
    for (let nth = 0; nth < filled; nth++) {
      best.scores[nth] = f32[scores + nth];
      best.slots[nth] = u32[slots + nth];
    }
    best.length = filled;
    search.tied = filled > 0 && f32[heap / 4 + 3] === best.scores[filled - 1];
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
