/** The baseline where there is no Python: our own scan of everything, without classes of norms. */
import { wasmKernels } from '@freshet/kernels';
import { nthBest } from '@freshet/model';
import type { Baseline } from './baseline.ts';
import { cpuSecondsPerQuery } from './cpu-time.ts';

const LISTED = 10;

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
      const scores = new Float32Array(table.slotEnd);
      const count = queries.length / k;
      query = (nth) => {
        const at = (nth % count) * k;
        kernels.scores(queries.subarray(at, at + k), table, scores);
        nthBest(scores, LISTED);
      };
    },
    turn: async () => cpuSecondsPerQuery(1, query),
    close: async () => {},
  };
}
