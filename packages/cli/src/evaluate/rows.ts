/**
 * Which rows does this request put into its table? Models by loss and prior, then the baselines.
 */
import {
  defaultRow,
  lossLabels,
  paperRow,
  type Row,
  type StreamingMethod,
  staticBaselines,
  streamingBaselines,
} from '@freshet/experiments';
import { defaultModel, type LossName, type ModelSettings } from '@freshet/model';
import { type Request, WrongUsage } from './request.ts';

type ModelRow = Row<Extract<StreamingMethod, { kind: 'model' }>>;

export function modelRows(request: Request): ModelRow[] {
  return request.models.flatMap((model) =>
    model === 'paper' ? paperRows(request) : defaultRows(request),
  );
}

function paperRows(request: Request): ModelRow[] {
  const { grid, losses, rhos, fixed } = request;
  const training = { passes: request.passes, tolerance: request.tolerance };
  // Static compares with and without prior unless told which; a stream is asked for one at a time.
  const priors =
    rhos.length > 0 ? rhos : request.protocol === 'static' ? [undefined, 0] : [undefined];
  const several = priors.filter((rho) => rho !== 0).length > 1;
  return losses.flatMap((loss) =>
    priors.map((rho) => {
      const row = paperRow(loss, rho !== 0, grid, training, {
        ...forLoss(fixed, loss),
        ...(rho !== undefined && { rho }),
      });
      return several && rho !== 0 ? { ...row, label: `${row.label}, ρ=${rho}` } : row;
    }),
  );
}

function defaultRows(request: Request): ModelRow[] {
  const training = { passes: request.passes, tolerance: request.tolerance };
  const rhos = request.rhos.length > 0 ? request.rhos : [defaultModel.rho];
  // In a static table of all losses the default model is one row: its own loss.
  const losses = request.protocol === 'static' ? [defaultModel.loss] : request.losses;
  return losses.flatMap((loss) =>
    rhos.map((rho) => {
      const row = defaultRow(training, { ...forLoss(request.fixed, loss), loss, rho });
      const marks = [
        ...(loss === defaultModel.loss ? [] : [lossLabels[loss]]),
        ...(rhos.length > 1 ? [`ρ=${rho}`] : []),
      ];
      return { ...row, label: [row.label, ...marks].join(', ') };
    }),
  );
}

/** A prior value other than 0 exists for the squared loss alone. */
function forLoss(fixed: Partial<ModelSettings>, loss: LossName): Partial<ModelSettings> {
  if (loss === 'squared') return fixed;
  const { priorValue: _, ...rest } = fixed;
  return rest;
}

const usualStatic = ['mult-nmf', 'mult-nmf-all', 'als', 'popularity', 'item-mean'];
const usualDynamic = ['popularity', 'recent'];

export function staticRows(request: Request): Row[] {
  return [
    ...modelRows(request),
    ...pick(staticBaselines(request.grid), request.baselines ?? usualStatic),
  ];
}

export function dynamicRows(request: Request): Row<StreamingMethod>[] {
  return [
    ...modelRows(request),
    ...pick(streamingBaselines(request.grid), request.baselines ?? usualDynamic),
  ];
}

function pick<R>(known: Readonly<Record<string, R>>, asked: readonly string[]): R[] {
  if (asked.length === 1 && asked[0] === 'none') return [];
  if (asked.length === 1 && asked[0] === 'all') return Object.values(known);
  return asked.map((name) => {
    const row = known[name];
    if (row === undefined) {
      throw new WrongUsage(
        `--baselines must be of none, all, ${Object.keys(known).join(', ')}, not ${name}`,
      );
    }
    return row;
  });
}
