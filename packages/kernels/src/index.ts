export type {
  Best,
  Descent,
  Kernels,
  Quadratic,
  RankedTable,
  Row,
  Search,
  SummedQuadratic,
  VectorTable,
} from './kernels.ts';
export { MAX_FACTOR_COUNT } from './kernels.ts';
export { axpy, dot, referenceKernels, symv, syr } from './reference.ts';
export { wasmKernels } from './wasm.ts';
