/**
 * Exact search over a ranked table. A class is scanned if its longest vector could still reach the
 * worst score on the list. All bounds allow for single precision rounding, so a search returns
 * exactly the scores that a scan of all vectors would return.
 *
 * With raises, the scan finds a few more slots than are asked for. Let B be the lowest of their
 * scores and T the score that the list ends with once they are raised. Any other slot scores at
 * most B without its raise, so it can only belong to the list if its raise is at least T − B.
 */

import { type Best, MAX_FACTOR_COUNT, type Search } from './kernels.ts';
import { checkLength } from './reference-table.ts';
import type { WasmExports } from './wasm-instance.ts';
import { WasmSlotSums } from './wasm-lists.ts';
import { type WasmMemory, WasmScratch } from './wasm-memory.ts';
import { HEAD, VECTORS_PER_BLOCK, type WasmRankedTable } from './wasm-ranked-table.ts';
import { type Raises, raisedScore, type SlotSums } from './weighted-lists.ts';

const HEAP_HEADER_BYTES = 16;
/** Nine figures and padding; see sketch.ts. */
const QUERY_FIGURES = 12;
/** The last three: the query's length, and the rounding slack per length and constant. */
const LENGTH_FIGURE = 6;
/** With raises, so many more slots are sought: the more, the fewer others have to be scored. */
const MORE = 16;
/** More than the relative rounding error of single precision. */
const ROUNDING = 1e-5;

export class WasmSearch {
  readonly #memory: WasmMemory;
  readonly #exports: WasmExports;
  readonly #query: WasmScratch;
  readonly #heap: WasmScratch;
  /** Slots that were not found and their scores. */
  readonly #others: WasmScratch;
  readonly #excluded: WasmScratch;
  /** Address of the transform of the current query. */
  readonly #transformed: number;

  constructor(memory: WasmMemory, exports: WasmExports) {
    this.#memory = memory;
    this.#exports = exports;
    this.#query = new WasmScratch(memory);
    this.#heap = new WasmScratch(memory);
    this.#others = new WasmScratch(memory);
    this.#excluded = new WasmScratch(memory);
    this.#transformed = memory.allocate(4 * MAX_FACTOR_COUNT);
  }

  /** Scans each layout from the longest vectors down, until none can reach the list. */
  run(search: Search, table: WasmRankedTable): void {
    const { query, excluded, raises, best } = search;
    const { exclude, rank, order } = this.#exports;
    checkLength(query.length, table.factorCount);
    if (raises !== undefined) this.#ours(raises.sums); // what throws must not leave marks behind
    table.ask(query);
    const address = this.#query.atLeast(queryBytes(table));
    const wanted = best.slots.length + (raises === undefined ? 0 : MORE);
    const heap = this.#openHeap(Math.min(wanted, table.size));
    this.#put(query, address, table.stride);
    const left = this.#putExcluded(excluded);
    exclude(left, excluded.length, table.slotEnd, table.skip, true);
    const { skip, stride, tailStride } = table;
    for (const layout of table.layouts) {
      layout.transformQuery(address, tailStride, this.#transformed);
      const { directory, classes } = layout;
      rank(address, directory, classes.length, stride, tailStride, heap, skip);
    }
    order(heap);
    const dropped =
      raises === undefined
        ? this.#take(best, heap)
        : this.#takeRaised(best, heap, raises, address, table);
    exclude(left, excluded.length, table.slotEnd, skip, false);
    search.tied = best.length > 0 && dropped === best.scores[best.length - 1];
  }

  slotsScoring(query: Float32Array, score: number, table: WasmRankedTable): number[] {
    checkLength(query.length, table.factorCount);
    const address = this.#query.atLeast(queryBytes(table) + 4 * VECTORS_PER_BLOCK);
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
    raises?: Raises,
  ): void {
    checkLength(query.length, table.factorCount);
    if (slots.length === 0) return;
    const count = Math.ceil(slots.length / 4) * 4;
    const address = this.#query.atLeast(table.stride + 8 * count);
    this.#put(query, address, table.stride);
    const places = address + table.stride;
    const scores = places + 4 * count;
    const { u32, f32 } = this.#memory;
    for (let e = 0; e < count; e++) {
      // The kernel takes four at a time, so the last slot is repeated as padding.
      u32[places / 4 + e] = table.address(slots[Math.min(e, slots.length - 1)]);
    }
    this.#exports.rowDots(address, places, 4 * count, scores, table.stride);
    for (let e = 0; e < slots.length; e++) {
      const score = f32[scores / 4 + e];
      out[e] = raises === undefined ? score : raisedScore(score, slots[e], raises);
    }
  }

  #ours(sums: SlotSums): WasmSlotSums {
    if (sums instanceof WasmSlotSums && sums.belongsTo(this.#memory)) return sums;
    throw new TypeError('these raises were made by other kernels');
  }

  /** Prepares an empty heap and returns its address. */
  #openHeap(room: number): number {
    const address = this.#heap.atLeast(HEAP_HEADER_BYTES + 8 * room);
    const { f32, u32 } = this.#memory;
    const heap = address / 4;
    u32[heap] = 0;
    u32[heap + 1] = room;
    f32[heap + 2] = room === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    f32[heap + 3] = Number.NEGATIVE_INFINITY;
    return address;
  }

  #putExcluded(excluded: ArrayLike<number>): number {
    const address = this.#excluded.atLeast(4 * excluded.length);
    this.#memory.u32.set(excluded, address / 4);
    return address;
  }

  /** Copies what was found. Returns the best score that did not fit. */
  #take(best: Best, heap: number): number {
    const { f32, u32 } = this.#memory;
    const [filled, room] = [u32[heap / 4], u32[heap / 4 + 1]];
    const scores = heap / 4 + 4;
    const slots = scores + room;
    for (let nth = 0; nth < filled; nth++) {
      best.scores[nth] = f32[scores + nth];
      best.slots[nth] = u32[slots + nth];
    }
    best.length = filled;
    return f32[heap / 4 + 3];
  }

  /** The same with raises; slots that were not found may belong to the list too. */
  #takeRaised(
    best: Best,
    heap: number,
    raises: Raises,
    query: number,
    table: WasmRankedTable,
  ): number {
    const { weight } = raises;
    const sums = this.#ours(raises.sums);
    const others = this.#others.atLeast(8 * sums.room);
    const { f32, u32 } = this.#memory;
    const [filled, room] = [u32[heap / 4], u32[heap / 4 + 1]];
    let dropped = f32[heap / 4 + 3];
    best.length = 0;
    for (let nth = 0, at = heap / 4 + 4; nth < filled; nth++, at++) {
      const slot = u32[at + room];
      dropped = Math.max(dropped, insert(best, slot, raisedScore(f32[at], slot, raises)));
    }
    if (filled < room || room === table.size || best.length === 0) return dropped;
    const missing = best.scores[best.length - 1] - f32[heap / 4 + 3 + filled];
    const least = (1 - ROUNDING) * Math.expm1(Math.max(0, missing) / weight);
    const count = this.#exports.scoreOthers(
      query,
      table.stride,
      table.addresses,
      table.slotEnd,
      sums.addressOfSlots,
      sums.addressOfSums,
      sums.length,
      least,
      table.skip,
      heap,
      others,
      others + 4 * sums.room,
    );
    for (let at = others / 4; at < others / 4 + count; at++) {
      const slot = u32[at];
      dropped = Math.max(
        dropped,
        insert(best, slot, raisedScore(f32[at + sums.room], slot, raises)),
      );
    }
    return dropped;
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

/** Inserts a score into a list in order. Returns the score that does not fit, −∞ if all do. */
function insert(best: Best, slot: number, score: number): number {
  const { slots, scores } = best;
  const last = best.length - 1;
  let dropped = Number.NEGATIVE_INFINITY;
  let at = best.length;
  if (at < slots.length) best.length++;
  else if (score > scores[last]) {
    at = last;
    dropped = scores[last];
  } else return score;
  for (; at > 0 && scores[at - 1] < score; at--) {
    scores[at] = scores[at - 1];
    slots[at] = slots[at - 1];
  }
  scores[at] = score;
  slots[at] = slot;
  return dropped;
}
