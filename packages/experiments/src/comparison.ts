/**
 * The rows that a table of results can have, each with the settings it may choose from: the paper's
 * grid in full (table:parameters), a small grid for an afternoon, or one setting.
 */
import {
  defaultModel,
  forLiking,
  type LossName,
  type ModelSettings,
  paperModel,
} from '@freshet/model';
import type { NmfObjective } from './baselines/mult-nmf.ts';
import type { Method, StreamingMethod } from './method.ts';

export const grids = ['none', 'small', 'paper'] as const;
type Grid = (typeof grids)[number];

/** A row of a table, with its settings to choose from. The first is used when nothing is chosen. */
export interface MethodRow<M extends Method = Method> {
  readonly label: string;
  readonly settings: readonly M[];
}

export type Training = Readonly<Record<'passes' | 'tolerance', number>>;

export const lossLabels: Record<LossName, string> = {
  squared: 'SL',
  absolute: 'AL',
  'kullback-leibler': 'GKL',
};

type ModelMethod = Extract<Method, { kind: 'model' }>;
export type ModelRow = MethodRow<ModelMethod>;

/** table:parameters */
const paperGrid = {
  k: [5, 10, 20, 50, 100, 200],
  lambda: [0, 0.01, 0.1, 1, 10],
  rho: [0.3, 0.7, 1, 2],
  baselineK: [20, 50, 100, 200, 500],
  alsLambda: [0, 0.001, 0.01, 0.05, 0.1],
} as const;

/** The small grid of each loss with prior, and of all without. The first is used without a grid. */
const smallGrid: Record<LossName | 'withoutPrior', readonly Partial<ModelSettings>[]> = {
  squared: [
    { factorCount: 20, rho: 2 },
    { factorCount: 20, rho: 1 },
  ],
  absolute: [
    { factorCount: 20, rho: 0.3 },
    { factorCount: 50, rho: 0.3 },
  ],
  'kullback-leibler': [
    { factorCount: 20, rho: 1 },
    { factorCount: 50, rho: 1 },
  ],
  withoutPrior: [
    { factorCount: 5, lambda: 10 },
    { factorCount: 20, lambda: 10 },
  ],
};

export function paperRow(
  loss: LossName,
  prior: boolean,
  grid: Grid,
  training: Training,
  fixed: Partial<ModelSettings> = {},
): ModelRow {
  const choices = grid === 'paper' ? paperChoices(prior) : smallGrid[prior ? loss : 'withoutPrior'];
  const settings = choices.map((choice) => ({ ...paperModel, rho: 0, ...choice, loss, ...fixed }));
  const methods = settings.map(
    (choice): ModelMethod => ({ kind: 'model', settings: choice, ...training }),
  );
  return {
    label: `${lossLabels[loss]} ${prior ? 'with' : 'without'} prior`,
    settings: chosen(methods, grid),
  };
}

function paperChoices(prior: boolean): Partial<ModelSettings>[] {
  return paperGrid.k.flatMap((factorCount) =>
    paperGrid.lambda.flatMap((lambda) =>
      (prior ? paperGrid.rho : [0]).map((rho) => ({ factorCount, lambda, rho })),
    ),
  );
}

/** The default model has one set of settings for all data: there is nothing to choose. */
export function defaultRow(training: Training, fixed: Partial<ModelSettings> = {}): ModelRow {
  return modelRow('Freshet default', training, fixed);
}

/** A static table asks two questions: what comes next, and what is liked. */
export function staticModelRows(
  training: Training,
  fixed: Partial<ModelSettings> = {},
): ModelRow[] {
  return [
    modelRow('Freshet, for what comes next', training, fixed),
    modelRow('Freshet, for liking', training, { ...forLiking, ...fixed }),
  ];
}

export const expectedValueRow: MethodRow = {
  label: 'Freshet, expected value',
  settings: [{ kind: 'expected-value' }],
};

export function modelRow(
  label: string,
  training: Training,
  changes: Partial<ModelSettings>,
): ModelRow {
  const settings = { ...defaultModel, ...changes };
  return { label, settings: [{ kind: 'model', settings, ...training }] };
}

/** Each setting once: options that fix a value can make two choices equal. */
function chosen<M extends Method>(methods: readonly M[], grid: Grid): readonly M[] {
  const unique = new Map(methods.map((method) => [JSON.stringify(method), method]));
  return grid === 'none' ? methods.slice(0, 1) : [...unique.values()];
}

/** In ratings per item; what is recent differs between logs. undefined: counts do not decay. */
const halfLives = [undefined, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20] as const;

const popularities = halfLives.map((halfLife): StreamingMethod => {
  return { kind: 'popularity', ...(halfLife !== undefined && { halfLife }) };
});

/** Each half-life as a row: the best one for cold users need not be the best one for all. */
const eachPopularity = Object.fromEntries(
  halfLives.map((halfLife, at): [string, MethodRow<StreamingMethod>] => {
    const name = halfLife === undefined ? 'plain' : `${halfLife}m`;
    return [`popularity-${name}`, { label: `popularity, ${name}`, settings: [popularities[at]] }];
  }),
);

const sgd = { kind: 'sgd', k: 50, passes: 10 } as const;

/** Baselines that can be in a dynamic table, by the name that `--baselines` takes. */
export function streamingBaselines(grid: Grid): Record<string, MethodRow<StreamingMethod>> {
  const row = (label: string, ...settings: StreamingMethod[]): MethodRow<StreamingMethod> => ({
    label,
    settings: chosen(settings, grid),
  });
  return {
    // The half-life is chosen even without a grid: one that does not fit the log is no baseline.
    popularity: { label: 'best popularity', settings: popularities },
    ...eachPopularity,
    'item-mean': row(
      'damped item mean',
      { kind: 'item-mean', damping: 10 },
      { kind: 'item-mean', damping: 25 },
    ),
    sgd: row(
      'SGD, ratings only',
      { ...sgd, negatives: 0, rate: 0.02, decay: 0.02 },
      { ...sgd, negatives: 0, rate: 0.01, decay: 0.05 },
    ),
    'sgd-negatives': row(
      'SGD, 10 uniform negatives',
      { ...sgd, negatives: 10, rate: 0.1, decay: 0.005 },
      { ...sgd, negatives: 10, rate: 0.05, decay: 0.002 },
    ),
    random: row('random', { kind: 'random' }),
  };
}

/** Baselines that can be in a static table, by the same names. */
export function staticBaselines(grid: Grid): Record<string, MethodRow> {
  const [nmfKs, alsKs, alsLambdas] =
    grid === 'paper'
      ? [paperGrid.baselineK, paperGrid.baselineK, paperGrid.alsLambda]
      : [[20, 10], [20], [0.05, 0.1]];
  const nmf = (label: string, objective: NmfObjective): MethodRow => {
    const settings = nmfKs.map((k) => ({ kind: 'mult-nmf', k, passes: 30, objective }) as const);
    return { label, settings: chosen(settings, grid) };
  };
  const als = alsKs.flatMap((k) =>
    alsLambdas.map((lambda) => ({ kind: 'als', k, lambda, passes: 8 }) as const),
  );
  return {
    'mult-nmf': nmf('Mult-NMF', 'squared-known'),
    'mult-nmf-all': nmf('Mult-NMF, all cells', 'divergence-all'),
    als: { label: 'ALS-UV', settings: chosen(als, grid) },
    ...streamingBaselines(grid),
    popularity: { label: 'popularity', settings: [{ kind: 'popularity' }] },
  };
}
