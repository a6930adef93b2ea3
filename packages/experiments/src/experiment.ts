/**
 * Measures the rows of a table. For each row and run, it chooses among the settings on validation
 * data, then measures the chosen one on the test data, in either protocol.
 */
import type { MethodRow } from './comparison.ts';
import type { Method } from './method.ts';
import { deviation, mean } from './metrics/mean.ts';
import type { Runner } from './runner.ts';
import type { ResultOf, Task } from './task.ts';

/** How one protocol turns a method into tasks. */
export interface Plan<M extends Method, T extends Task> {
  readonly runs: number;
  /** Tasks whose mean score decides which setting is chosen. */
  readonly validate: (method: M, run: number) => readonly T[];
  readonly score: (result: ResultOf<T>) => number | undefined;
  readonly test: (method: M, run: number) => T;
}

export interface MeasuredRow<M extends Method, T extends Task> {
  readonly label: string;
  /** The runs that have a result, each with the setting that was chosen for it. */
  readonly runs: readonly { readonly method: M; readonly result: ResultOf<T> }[];
}

/** A setting that was tried on validation data, as far as the run came if it was interrupted. */
export interface TriedSetting<M extends Method> {
  readonly label: string;
  readonly method: M;
  /** Mean over runs and validation sets. */
  readonly score: number | undefined;
}

export async function measure<M extends Method, T extends Task>(
  rows: readonly MethodRow<M>[],
  plan: Plan<M, T>,
  runner: Runner,
) {
  const runs = Array.from({ length: plan.runs }, (_, run) => run);
  const cells = rows.flatMap((row) => runs.map((run) => ({ row, run })));
  const trials = cells.flatMap(({ row, run }) =>
    row.settings.length < 2
      ? []
      : row.settings.flatMap((method) =>
          plan.validate(method, run).map((task) => ({ row, run, method, task })),
        ),
  );
  runner.announce(trials.length + cells.length);
  const answers = await runner.run(trials.map(({ task }) => task));
  const scored = trials.map((trial, index) => {
    const answer = answers[index];
    return { ...trial, score: answer && plan.score(answer) };
  });
  const meanScore = (row: MethodRow<M>, method: M, run?: number) =>
    mean(
      scored
        .filter((t) => t.row === row && t.method === method && (run === undefined || t.run === run))
        .flatMap(({ score }) => score ?? []),
    );
  const chosen = cells.map(({ row, run }) => {
    // A setting without a score, because the run was interrupted, is not preferred.
    const scores = row.settings.map((method) => meanScore(row, method, run) ?? 0);
    return row.settings[scores.indexOf(Math.max(...scores))];
  });
  const results = await runner.run(cells.map(({ run }, cell) => plan.test(chosen[cell], run)));
  return {
    rows: rows.map((row) => ({
      label: row.label,
      runs: cells.flatMap((cell, index) => {
        const result = results[index];
        return cell.row === row && result ? [{ method: chosen[index], result }] : [];
      }),
    })),
    /** Empty if no row has two settings. */
    tried: rows
      .filter(({ settings }) => settings.length > 1)
      .flatMap((row) =>
        row.settings.map((method) => ({ label: row.label, method, score: meanScore(row, method) })),
      ),
  };
}

export function overRuns<R>(
  runs: readonly { readonly result: R }[],
  figure: (result: R) => number | undefined,
): { readonly mean: number | undefined; readonly deviation: number } {
  const values = runs.flatMap(({ result }) => figure(result) ?? []);
  return { mean: mean(values), deviation: deviation(values) };
}
