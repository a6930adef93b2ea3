/** The baseline where there is no Python: our own scan of everything, without classes of norms. */
import { wasmKernels } from '@freshet/kernels';
import type { Baseline } from './baseline.ts';
import { cpuSecondsPerQuery } from './cpu-time.ts';

export function naiveBaseline(): Baseline {
  let query: (nth: number) => void = () => {};
  return {
    name: 'our own naive scan in WebAssembly: float32, one thread',
    async load(vectors, queries, k) {
      const kernels = wasmKernels();
      const table = kernels.table(k);
      for (let at = 0; at < vectors.length; at += k) {
        table.write(table.add(), vectors.subarray(at, at + k));
      }
      const best = { length: 0, slots: new Uint32Array(10), scores: new Float32Array(10) };
      const count = queries.length / k;
      query = (nth) => {
        const at = (nth % count) * k;
        kernels.topN(queries.subarray(at, at + k), table, undefined, best);
      };
    },
    turn: async () => cpuSecondsPerQuery(1, query),
    close: async () => {},
  };
}
