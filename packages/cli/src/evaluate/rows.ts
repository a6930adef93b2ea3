/** Which rows does the table of this request have? Models by loss and prior, then the baselines. */
import {
  ablationRows,
  defaultRow,
  expectedValueRow,
  lossLabels,
  type MethodRow,
  type ModelRow,
  paperRow,
  type RatingTable,
  type StreamingMethod,
  staticBaselines,
  staticModelRows,
  streamingBaselines,
  type Training,
} from '@freshet/experiments';
import { defaultModel, type LossName, type ModelSettings } from '@freshet/model';
import { WrongUsage } from '../operator-command.ts';
import type { ModelName, Request } from './request.ts';

/** Enough passes that more of them would not change the figures. */
const usualTraining: Record<'static' | ModelName, Training> = {
  static: { passes: 20, tolerance: 0.0005 },
  paper: { passes: 15, tolerance: 0.001 },
  default: { passes: 12, tolerance: 0 },
};

function trainingOf(request: Request, model: ModelName): Training {
  const usual = usualTraining[request.protocol === 'static' ? 'static' : model];
  const { passes = usual.passes, tolerance = usual.tolerance } = request;
  return { passes, tolerance };
}

export function modelRows(request: Request): ModelRow[] {
  return request.models.flatMap((model) =>
    model === 'paper' ? paperRows(request) : defaultRows(request),
  );
}

function paperRows(request: Request): ModelRow[] {
  const { grid, losses, rhos, fixed } = request;
  const training = trainingOf(request, 'paper');
  // Without --rho, static compares with and without prior, and a stream has one row.
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
  const training = trainingOf(request, 'default');
  const rhos = request.rhos.length > 0 ? request.rhos : [defaultModel.rho];
  return request.losses.flatMap((loss) =>
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

/** Only the squared loss can have a prior value other than 0. */
function forLoss(fixed: Partial<ModelSettings>, loss: LossName): Partial<ModelSettings> {
  if (loss === 'squared') return fixed;
  const { priorValue: _, ...rest } = fixed;
  return rest;
}

const usualStatic = ['mult-nmf', 'mult-nmf-all', 'als', 'popularity', 'item-mean'];
const usualDynamic = ['popularity', 'sgd-negatives'];

/** The rows of the default model keep its own loss; --loss applies to the paper's rows. */
export function staticRows(request: Request): MethodRow[] {
  const { models, fixed } = request;
  const rhos = request.rhos.length > 0 ? request.rhos : [defaultModel.rho];
  const training = trainingOf(request, 'default');
  const ownRows = rhos.flatMap((rho) =>
    staticModelRows(training, { ...fixed, rho }).map((row) =>
      rhos.length > 1 ? { ...row, label: `${row.label}, ρ=${rho}` } : row,
    ),
  );
  return [
    ...(models.includes('paper') ? paperRows(request) : []),
    ...(models.includes('default') ? [...ownRows, expectedValueRow] : []),
    ...pick(staticBaselines(request.grid), request.baselines ?? usualStatic),
  ];
}

export function dynamicRows(request: Request): MethodRow<StreamingMethod>[] {
  return [
    ...modelRows(request),
    ...pick(streamingBaselines(request.grid), request.baselines ?? usualDynamic),
  ];
}

/** The default model, then the same with each of its parts undone in turn. */
export function ablatedRows(
  request: Request,
  table: RatingTable,
  train: number,
): MethodRow<StreamingMethod>[] {
  const training = trainingOf(request, 'default');
  return [
    ...defaultRows({ ...request, losses: [defaultModel.loss], rhos: [] }),
    ...ablationRows(table, train, training, request.fixed),
    ...pick(streamingBaselines(request.grid), request.baselines ?? ['none']),
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
