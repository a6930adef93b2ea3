/** Kernels for sums that belong to nobody's table: one instance for all of them, made when first needed. */

import { type Kernels, wasmKernels } from '@freshet/kernels';

let kernels: Kernels | undefined;

export function sharedKernels(): Kernels {
  kernels ??= wasmKernels();
  return kernels;
}
