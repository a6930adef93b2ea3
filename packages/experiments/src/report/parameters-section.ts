/** What do k, λ and ρ do to AUC and to the time of an update (fig:parameter-influence)? */
import { paperWords } from '../paper-results.ts';
import { type Parameter, type ParameterPoint, parameters } from '../protocols/parameters.ts';
import type { LineChart } from './line-chart.ts';
import { figure, type Section } from './section.ts';

const names: Record<Parameter, string> = {
  k: 'k, features',
  lambda: 'λ, L1 penalty',
  rho: 'ρ, weight of the unknown',
};

interface ParameterSweep {
  readonly label: string;
  readonly points: readonly ParameterPoint[];
}

export function parametersSection(sweeps: readonly ParameterSweep[]): Section {
  return {
    title: 'Parameters',
    words: [paperWords.parameters],
    tables: sweeps.map(({ label, points }) => ({
      head: [label, 'value', 'AUC served', 'AUC strict', 'HR@10', 'ms per update'],
      rows: points.map((point) => [
        { text: names[point.parameter] },
        { text: String(point.value) },
        { text: figure(point.aucServed) },
        { text: figure(point.aucStrict) },
        { text: figure(point.hitRate10) },
        { text: figure(point.updateMs, 3) },
      ]),
    })),
    charts: (Object.keys(parameters) as Parameter[]).flatMap((parameter) => [
      chart(sweeps, parameter, 'AUC', (p) => p.aucServed),
      chart(sweeps, parameter, 'ms per update', (p) => p.updateMs),
    ]),
  };
}

function chart(
  sweeps: readonly ParameterSweep[],
  parameter: Parameter,
  yLabel: string,
  of: (point: ParameterPoint) => number | undefined,
): LineChart {
  return {
    title: `${yLabel} by ${names[parameter]}`,
    xLabel: names[parameter],
    yLabel,
    xScale: parameter === 'k' ? 'linear' : 'log',
    series: sweeps.map(({ label, points }) => ({
      name: label,
      points: points.flatMap((point) => {
        const y = of(point);
        return point.parameter !== parameter || y === undefined ? [] : [{ x: point.value, y }];
      }),
    })),
    format: (y) => figure(y, 3),
  };
}
