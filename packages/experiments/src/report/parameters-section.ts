/** How do k, λ and ρ change the AUC and the time of an update (fig:parameter-influence)? */
import { paperWords } from '../paper-results.ts';
import { type Parameter, type ParameterPoint, parameters } from '../protocols/parameters.ts';
import { type LineChart, lineThrough } from './line-chart.ts';
import { figure, type Section, tableOf } from './section.ts';

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
    tables: sweeps.map(({ label, points }) =>
      tableOf(points, [
        [label, ({ parameter }) => names[parameter]],
        ['value', ({ value }) => String(value)],
        ['AUC served', ({ aucServed }) => figure(aucServed)],
        ['AUC strict', ({ aucStrict }) => figure(aucStrict)],
        ['HR@10', ({ hitRate10 }) => figure(hitRate10)],
        ['ms per update', ({ updateMs }) => figure(updateMs, 3)],
      ]),
    ),
    charts: (Object.keys(parameters) as Parameter[]).flatMap((parameter) => [
      chart(sweeps, parameter, 'AUC', 'aucServed'),
      chart(sweeps, parameter, 'ms per update', 'updateMs'),
    ]),
  };
}

function chart(
  sweeps: readonly ParameterSweep[],
  parameter: Parameter,
  yLabel: string,
  name: 'aucServed' | 'updateMs',
): LineChart {
  return {
    title: `${yLabel} by ${names[parameter]}`,
    xLabel: names[parameter],
    yLabel,
    xScale: parameter === 'k' ? 'linear' : 'log',
    series: sweeps.map(({ label, points }) => {
      const own = points.filter((point) => point.parameter === parameter);
      return lineThrough(label, own, (point) => [point.value, point[name]]);
    }),
    format: (y) => figure(y, 3),
  };
}
