/**
 * What is a result, before it is a page or a terminal's worth of text? Words, tables and charts;
 * every experiment fills one in, and two writers print it.
 */
import type { LineChart } from './line-chart.ts';

export interface Cell {
  readonly text: string;
  /** best: above all others; paper: the paper's number, not ours. */
  readonly kind?: 'best' | 'paper';
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export interface Section {
  readonly title: string;
  readonly words: readonly string[];
  readonly tables: readonly Table[];
  readonly charts: readonly LineChart[];
}

/** A figure as people write it: four digits, or a dash where there is none. */
export function figure(value: number | undefined, digits = 4): string {
  return value === undefined || !Number.isFinite(value) ? '–' : value.toFixed(digits);
}

export function percent(share: number | undefined): string {
  return share === undefined ? '–' : `${(100 * share).toFixed(1)} %`;
}
