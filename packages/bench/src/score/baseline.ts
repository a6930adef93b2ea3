/** What the search of the scorer is compared with: numpy, or a naive scan where there is none. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { childEnvironment } from '@freshet/config';
import { wasmKernels } from '@freshet/kernels';
import { pythonWith, SetupProblem } from '@freshet/local';
import { cpuSecondsPerQuery } from '../measuring.ts';

export interface Baseline {
  readonly name: string;
  /** Takes `count` vectors of `k` factors, one after another, and as many queries as are given. */
  load(vectors: Float32Array, queries: Float32Array, k: number): Promise<void>;
  /** CPU-seconds per query of one turn: each query alone, or 64 at once. */
  turn(kind: 'single' | 'batch'): Promise<number>;
  close(): Promise<void>;
}

const TURN_SECONDS = 0.3;
const LISTED = 10;

const program = `
import sys, time
import numpy as np
print(np.__version__, flush=True)
def best(scores):
    top = np.argpartition(scores, -10)[-10:]
    return top[np.argsort(-scores[top])]
for line in sys.stdin:
    words = line.split()
    if words[0] == 'load':
        k = int(words[3])
        V = np.fromfile(words[1], dtype=np.float32).reshape(-1, k)
        Q = np.fromfile(words[2], dtype=np.float32).reshape(-1, k)
        print('loaded', flush=True)
        continue
    done, start = 0, time.process_time()
    while time.process_time() - start < ${TURN_SECONDS}:
        if words[0] == 'single':
            best(V @ Q[done % len(Q)])
            done += 1
        else:
            S = Q[:64] @ V.T
            top = np.argpartition(S, -10, axis=1)[:, -10:]
            np.argsort(-np.take_along_axis(S, top, axis=1), axis=1)
            done += 64
    print((time.process_time() - start) / done, flush=True)
`;

/** numpy, installed in an environment of its own in the cache folder; undefined if that fails. */
export async function numpyBaseline(scratch: string): Promise<Baseline | undefined> {
  const python = await pythonWithNumpy();
  if (python === undefined) return undefined;
  const threads = { OPENBLAS_NUM_THREADS: '1', OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1' };
  const child = spawn(python, ['-c', program], {
    env: childEnvironment(threads),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const version = await nextLine(lines);
  const ask = (line: string): Promise<string> => {
    const answer = nextLine(lines);
    child.stdin.write(`${line}\n`);
    return answer;
  };
  return {
    name: `numpy ${version}: float32, one thread, argpartition`,
    async load(vectors, queries, k) {
      const [vectorFile, queryFile] = [join(scratch, 'vectors'), join(scratch, 'queries')];
      writeFileSync(vectorFile, vectors);
      writeFileSync(queryFile, queries);
      await ask(`load ${vectorFile} ${queryFile} ${k}`);
    },
    turn: async (kind) => Number(await ask(kind)),
    async close() {
      const gone = once(child, 'close');
      child.stdin.end();
      await gone;
    },
  };
}

async function pythonWithNumpy(): Promise<string | undefined> {
  try {
    return await pythonWith('numpy', { numpy: 'numpy' });
  } catch (error) {
    if (!(error instanceof SetupProblem)) throw error;
    process.stderr.write(`a naive scan is the baseline: ${error.message}\n`);
    return undefined;
  }
}

function nextLine(lines: Interface): Promise<string> {
  return new Promise((resolve, reject) => {
    const onClose = () => reject(new Error('the baseline ended'));
    lines.once('close', onClose);
    lines.once('line', (line) => {
      lines.off('close', onClose);
      resolve(line);
    });
  });
}

/** The baseline where there is no Python: our own scan of everything, without classes of norms. */
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
      const best = new Float32Array(LISTED);
      const count = queries.length / k;
      query = (nth) => {
        const at = (nth % count) * k;
        kernels.scores(queries.subarray(at, at + k), table, scores);
        best.fill(Number.NEGATIVE_INFINITY);
        for (let slot = 0; slot < scores.length; slot++) insert(scores[slot] as number, best);
      };
    },
    turn: async () => cpuSecondsPerQuery(1, query),
    close: async () => {},
  };
}

/** Puts a score into a list of the best, greatest first. */
function insert(score: number, best: Float32Array): void {
  let at = best.length - 1;
  if (!(score > (best[at] as number))) return;
  for (; at > 0 && (best[at - 1] as number) < score; at--) best[at] = best[at - 1] as number;
  best[at] = score;
}
