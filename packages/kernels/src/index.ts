export { cholesky, solveFactored } from './cholesky.ts';
export type {
  Best,
  Descent,
  KernelRow,
  Kernels,
  Matrix,
  Quadratic,
  RankedTable,
  Search,
  SummedQuadratic,
  VectorTable,
  WeightedRow,
} from './kernels.ts';
export { MAX_FACTOR_COUNT } from './kernels.ts';
export { referenceKernels } from './reference.ts';
export { sharedKernels, wasmKernels } from './wasm.ts';
export type { ListPage, Raises, SlotSums } from './weighted-lists.ts';
