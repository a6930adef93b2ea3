/** The options of `freshet evaluate`: one table for the parser and the help. */
import { helpRow } from '../help-row.ts';
import { readingHelp } from '../ratings-file-options.ts';

export const protocols = {
  static: 'NDCG and AUC of models that learn once, on the held-out later half of random users',
  dynamic: 'prequential: a first model, then for every rating first a prediction, then an update',
  delay: 'dynamic, with a model that lags some ratings behind: what lag costs',
  parameters: 'dynamic, for several k, λ and ρ: quality and time per update',
} as const;

export type Protocol = keyof typeof protocols;

/** `value` is how the help names it, none for a flag; `only` are the protocols that use it. */
function option(value?: string, only?: readonly Protocol[]) {
  const type = value === undefined ? ('boolean' as const) : ('string' as const);
  return { about: (about: string) => ({ type, value, only, about }) };
}

const streaming = ['dynamic', 'delay', 'parameters'] as const;

export const options = {
  ratings: option('FILE').about(`the ratings: ${readingHelp.file}; - is standard input`),
  format: option('NAME').about(readingHelp.format),
  columns: option('LIST').about(readingHelp.columns),
  dates: option('NAME').about(readingHelp.dates),
  train: option('N', streaming).about(
    'how many ratings the first model learns from [60 % of the file, rounded]',
  ),
  test: option('N', streaming).about(
    'how many ratings after those are predicted [10 % of the file, rounded]',
  ),
  users: option('N', ['static']).about('how many users have their later half held out [1000]'),
  runs: option('N', ['static', 'dynamic', 'delay']).about(
    'how often to repeat, each time with the next seed [1; static 3]',
  ),
  seed: option('N').about('seed of everything random [1]'),
  grid: option('NAME', ['static', 'dynamic']).about(
    'choose settings on validation data: none, small (2 settings each, on 1 split) or paper (all settings, on 3 splits) [none]',
  ),
  'grid-file': option('FILE').about(
    'keep every finished task in this file; a run that is started again continues from it',
  ),
  ablate: option(undefined, ['dynamic']).about(
    'add a row for each part of the default model, with that part undone: what it is worth',
  ),
  'shuffle-ties': option('SEED').about(
    'put ratings of equal time into a random order first, instead of the order of the file',
  ),
  model: option('LIST').about('paper, default, or both [default; static: both]'),
  loss: option('LIST').about(
    'squared (sl), absolute (al), kullback-leibler (gkl) [squared; static: all]',
  ),
  k: option('LIST').about(
    'number of factors; a list only for parameters [default model 32, paper 20]',
  ),
  rho: option('LIST').about(
    'weight of the unknown ratings relative to the known, 0 for no prior; a list gives a row each',
  ),
  lambda: option('LIST').about('L1 penalty; a list only for parameters [0]'),
  'prior-value': option('X').about(
    'the expected value of an unknown rating; squared loss only [0]',
  ),
  items: option('NAME').about(
    'what an item keeps of its ratings: evidence, or rows with all of them [default model evidence, paper rows; rows where there is a prior value]',
  ),
  passes: option('N').about(
    'at most so many passes over the training ratings [12; paper 15; static 20]; 0 streams them one by one into an empty model instead',
  ),
  tolerance: option('X').about(
    'stop when a pass lowers the objective by less than this share [0; paper 0.001; static 0.0005]',
  ),
  delays: option('LIST', ['delay']).about(
    'how many ratings the model lags behind [0,1,5,10,50,100,500,1000]',
  ),
  baselines: option('LIST', ['static', 'dynamic']).about(
    'none, all, or a list of popularity (with a half-life chosen on the block before), popularity-plain, popularity-0.05m to -20m, item-mean, sgd, sgd-negatives, random [dynamic popularity,sgd-negatives]; static also mult-nmf, mult-nmf-all, als',
  ),
  curve: option('FILE', ['delay']).about(
    'write the curve (JSON) by which a running system turns its lag into an expected loss of AUC',
  ),
  report: option('FILE').about(
    'write a self-contained page (HTML) with tables and plots, beside those of the paper',
  ),
  json: option().about('print one JSON object instead of tables'),
  workers: option('N').about(
    'how many threads to use, 0 for this one alone [one per core]; the figures do not depend on it',
  ),
  quiet: option().about('print no progress on standard error'),
  help: option().about('print this text'),
};

export type OptionName = keyof typeof options;

export function helpText(): string {
  const rows = Object.entries(options).map(([name, { value, only, about }]) => {
    const left = `--${name}${value ? ` ${value}` : ''}`;
    return helpRow(left, only ? `${about} (${only.join(', ')})` : about);
  });
  const names = Object.entries(protocols).map(([name, about]) => helpRow(name, about));
  return `freshet evaluate PROTOCOL --ratings FILE [options]

Learns from a file of ratings and measures, before anything is deployed, how good the model is, how
fast it learns, and what lag would cost. Square brackets hold the default of an option.

Protocols
${names.join('\n')}

Options
${rows.join('\n')}

Examples
  freshet evaluate dynamic --ratings ratings.dat --train 600000 --test 100000
  freshet evaluate dynamic --ratings ratings.dat --ablate
  freshet evaluate dynamic --ratings ratings.dat --model paper --loss sl,al,gkl --rho 1,0
  freshet evaluate static --ratings ratings.dat --grid small --runs 3 --report static.html
  freshet evaluate delay --ratings ratings.csv.gz --curve curve.json --json

Ctrl-C prints what has been measured so far.
Exit code: 0 done, 1 the ratings cannot be read or are too few, 2 wrong usage, 130 interrupted.
`;
}
