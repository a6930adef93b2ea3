/** Loads the compiled kernels, declares what they export, and instantiates them on a memory. */

import { readFileSync } from 'node:fs';

// The part of the WebAssembly API that is used here: Node has it, its type declarations do not.
export interface LinearMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

interface CompiledModule {
  readonly [Symbol.toStringTag]: string;
}

declare const WebAssembly: {
  Memory: new (size: { initial: number; maximum: number }) => LinearMemory;
  Module: new (bytes: Uint8Array) => CompiledModule;
  Instance: new (
    module: CompiledModule,
    imports: Record<string, Record<string, unknown>>,
  ) => { readonly exports: object };
};

export const { Memory } = WebAssembly;

/** The exports of assembly/index.ts. Arguments are byte addresses, scales, counts or byte sizes. */
export interface WasmExports {
  dot(a: number, b: number, bytes: number): number;
  promote(from: number, to: number, bytes: number): void;
  symv(scale: number, s: number, v: number, out: number, k: number): void;
  syrMove(
    before: number,
    beforeScale: number,
    after: number,
    afterScale: number,
    wide: number,
    s: number,
    k: number,
    bytes: number,
  ): void;
  syrTriangle(sign: number, v: number, triangle: number, k: number): void;
  point(
    slots: number,
    length: number,
    blocks: number,
    shift: number,
    bytes: number,
    slotEnd: number,
    zero: number,
    pointers: number,
  ): number;
  weigh(
    values: number,
    room: number,
    length: number,
    base: number,
    slope: number,
    known: number,
    prior: number,
    curvatures: number,
    apart: number,
  ): number;
  rowDots(query: number, pointers: number, end: number, out: number, bytes: number): void;
  rowOrder(pointers: number, count: number, sum: number, trail: number, bytes: number): number;
  rowSum(coefficients: number, pointers: number, end: number, out: number, bytes: number): void;
  descend(
    k: number,
    bytes: number,
    end: number,
    pointers: number,
    curvatures: number,
    pulls: number,
    scale: number,
    s: number,
    ridge: number,
    linear: number,
    steps: number,
    own: number,
    scratch: number,
    outcome: number,
  ): void;
  descendSums(
    k: number,
    bytes: number,
    weight: number,
    triangle: number,
    scale: number,
    s: number,
    blended: number,
    ridge: number,
    linear: number,
    steps: number,
    own: number,
    scratch: number,
    outcome: number,
  ): void;
  scan(query: number, start: number, count: number, out: number, bytes: number): void;
  layIn(
    vector: number,
    transformed: number,
    k: number,
    block: number,
    at: number,
    bytes: number,
    tail: number,
  ): void;
  moveIn(
    source: number,
    from: number,
    target: number,
    to: number,
    bytes: number,
    tail: number,
  ): void;
  transformQuery(
    query: number,
    basis: number,
    lengths: number,
    stretch: number,
    k: number,
    bytes: number,
    tail: number,
    transformed: number,
  ): void;
  exclude(slots: number, count: number, slotEnd: number, skip: number, isExcluded: boolean): void;
  order(heap: number): void;
  forget(slots: number, count: number, sums: number): void;
  gather(
    numbers: number,
    weights: number,
    length: number,
    scale: number,
    stamps: number,
    sums: number,
    slots: number,
    found: number,
  ): number;
  scoreOthers(
    query: number,
    bytes: number,
    addresses: number,
    slotEnd: number,
    slots: number,
    sums: number,
    count: number,
    least: number,
    skip: number,
    heap: number,
    others: number,
    scores: number,
  ): number;
  rank(
    query: number,
    directory: number,
    classes: number,
    bytes: number,
    tail: number,
    heap: number,
    skip: number,
  ): void;
}

let compiled: CompiledModule | undefined;

/** build.mjs writes kernels.wasm to dist/. The path is right from src/ as well as from dist/. */
function compile(): CompiledModule {
  compiled ??= new WebAssembly.Module(
    readFileSync(new URL('../dist/kernels.wasm', import.meta.url)),
  );
  return compiled;
}

/** The module is compiled once per process and instantiated once per memory. */
export function instantiate(memory: LinearMemory): WasmExports {
  return new WebAssembly.Instance(compile(), { env: { memory, abort } }).exports as WasmExports;
}

function abort(): never {
  throw new Error('a kernel aborted');
}
