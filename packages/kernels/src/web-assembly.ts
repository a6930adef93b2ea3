/** The part of the WebAssembly API used here; the platform has it, its type declarations do not. */

export interface LinearMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

export interface CompiledModule {
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

export const { Memory, Module, Instance } = WebAssembly;
