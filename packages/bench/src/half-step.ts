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
import type { Figure } from './main.ts';
import { bestTurns, cpuSecondsPerQuery } from './measuring.ts';

const ROW_LENGTH = 256;
const NEIGHBOURS = 4_000;
const SEED = 20_160_515;
const TURNS = 12;
const TURN_SECONDS = 0.1;
/** A half-step takes little longer than to read the CPU time, so that is read once for many. */
const STEPS_PER_RUN = 20;

export async function bench(figure: Figure): Promise<void> {
  for (const k of [32, 100]) {
    const ours = fixture(wasmKernels(), k);
    const theirs = fixture(referenceKernels(), k);
    const [wasm, reference] = await bestTurns(TURNS, ours, theirs);
    figure(`half_step_speedup_k${k}`, reference / wasm, 'times');
    figure(`half_step_gflops_k${k}`, flops(k) / wasm / 1e9, 'GFLOP/s');
    figure(`half_step_us_k${k}`, wasm * 1e6, 'µs');
  }
}

/** Measures CPU-seconds of a half-step that starts from the same vector every time. */
function fixture(kernels: Kernels, k: number): () => number {
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
  const run = () => {
    for (let nth = 0; nth < STEPS_PER_RUN; nth++) {
      own.set(start);
      halfStep.run('user', own, row, others, grams);
    }
  };
  return () => cpuSecondsPerQuery(STEPS_PER_RUN, run, TURN_SECONDS);
}

/** Operations of a half-step: 4Nk for the gradient and each direction but the last (2Nk), and S. */
function flops(k: number): number {
  const steps = defaultModel.conjugateSteps;
  return ROW_LENGTH * k * (4 + 4 * (steps - 1) + 2) + 2 * k * k * (steps + 1);
}
