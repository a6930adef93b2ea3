export { cholesky, solveFactored } from './cholesky.ts';
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
export { referenceKernels } from './reference.ts';
export { wasmKernels } from './wasm.ts';
