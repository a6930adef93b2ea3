/** How much faster is a half-step in WebAssembly than its TypeScript twin, over a row of 256? */

import { type Kernels, referenceKernels, wasmKernels } from '@freshet/kernels';
import {
  defaultModel,
  emptyRow,
  firstTheta,
  Gram,
  type Grams,
  HalfStep,
  Random,
} from '@freshet/model';

const ROW_LENGTH = 256;
const NEIGHBOURS = 4_000;
const SEED = 20_160_515;
/** Turns each twin takes; the best counts, so that a neighbour on the machine costs both alike. */
const TURNS = 12;
const TURN_MS = 100;

export async function bench(
  figure: (name: string, value: number, unit: string) => void,
  _args: readonly string[],
): Promise<void> {
  for (const k of [32, 100]) {
    const twins = [fixture(referenceKernels(), k), fixture(wasmKernels(), k)] as const;
    const best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let turn = 0; turn < TURNS; turn++) {
      twins.forEach((run, twin) => {
        best[twin] = Math.min(best[twin] ?? 0, secondsPerRun(run));
      });
    }
    const [reference = 0, wasm = 0] = best;
    figure(`half_step_speedup_k${k}`, reference / wasm, 'times');
    figure(`half_step_gflops_k${k}`, flops(k) / wasm / 1e9, 'GFLOP/s');
    figure(`half_step_us_k${k}`, wasm * 1e6, 'µs');
  }
}

/** A half-step that starts from the same vector every time. */
function fixture(kernels: Kernels, k: number): () => void {
  const random = new Random(SEED);
  const settings = { ...defaultModel, factorCount: k };
  const others = kernels.table(k);
  const counts = { ratings: NEIGHBOURS * 100, values: NEIGHBOURS * 350, clock: 0 };
  const grams: Grams = { user: Gram.zero(k), item: Gram.zero(k), ...counts, theta: firstTheta() };
  const draw = () => Float32Array.from({ length: k }, () => random.normal() / Math.sqrt(k));
  for (let i = 0; i < NEIGHBOURS; i++) {
    const vector = draw();
    others.write(others.add(), vector);
    grams.item.move(undefined, vector);
    grams.user.move(undefined, draw());
  }
  const row = emptyRow(ROW_LENGTH);
  row.length = ROW_LENGTH;
  for (let e = 0; e < ROW_LENGTH; e++) {
    row.slots[e] = random.below(NEIGHBOURS);
    row.values[e] = 1 + random.below(5);
  }
  row.weights.fill(1);
  row.copies.fill(1);
  const start = draw();
  const own = start.slice();
  const halfStep = new HalfStep(kernels, settings);
  return () => {
    own.set(start);
    halfStep.run('user', own, row, others, grams);
  };
}

function secondsPerRun(run: () => void): number {
  const from = process.cpuUsage();
  const until = performance.now() + TURN_MS;
  let runs = 0;
  while (performance.now() < until) {
    for (let i = 0; i < 20; i++) run();
    runs += 20;
  }
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1e6 / runs;
}

/**
 * Multiplications and additions that a half-step needs: 4Nk for the gradient and for each direction, 2Nk
 * for the last, and one product with S for each of them.
 */
function flops(k: number): number {
  const steps = defaultModel.conjugateSteps;
  return ROW_LENGTH * k * (4 + 4 * (steps - 1) + 2) + 2 * k * k * (steps + 1);
}
