export { cholesky, solveFactored } from './cholesky.ts';
export type {
  Best,
  Descent,
  KernelRow,
  Kernels,
  ListPage,
  Matrix,
  Quadratic,
  Raises,
  RankedTable,
  Search,
  SlotSums,
  SummedQuadratic,
  VectorTable,
  WeightedRow,
} from './kernels.ts';
export { MAX_FACTOR_COUNT } from './kernels.ts';
export { referenceKernels } from './reference.ts';
export { sharedKernels, wasmKernels } from './wasm.ts';
