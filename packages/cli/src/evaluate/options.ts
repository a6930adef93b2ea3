/**
 * What can be asked of `freshet evaluate`? The table of its options: parser, help and reference in
 * one.
 */

export const protocols = {
  static: 'held-out halves of random users: NDCG and AUC of models that learn once',
  dynamic: 'prequential: ask, then update, for every rating after a first model',
  delay: 'the dynamic run with the model some ratings behind: what being late costs',
  parameters: 'the dynamic run for several k, λ and ρ: quality and time per update',
} as const;

export type Protocol = keyof typeof protocols;

interface Option {
  /** How its value is written in the help; a flag has none. */
  readonly value?: string;
  readonly about: string;
  /** The protocols it means something to; all if absent. */
  readonly only?: readonly Protocol[];
}

const streaming = ['dynamic', 'delay', 'parameters'] as const;

export const options = {
  ratings: {
    value: 'FILE',
    about: 'ratings to learn from: ::, CSV, TSV, JSON lines or review blocks; gzip too; - is stdin',
  },
  format: {
    value: 'NAME',
    about: 'double-colon, csv, tsv, semicolon, json or reviews; told by the first line if absent',
  },
  columns: {
    value: 'LIST',
    about: 'where each field is: user=reviewer,item=asin,value=stars,time=4 (names, or from 1)',
  },
  train: {
    value: 'N',
    about: 'ratings the first model is built on [60 % of the file, rounded]',
    only: streaming,
  },
  test: {
    value: 'N',
    about: 'ratings after them to be asked about [10 % of the file, rounded]',
    only: streaming,
  },
  users: { value: 'N', about: 'users whose later half is held out [1000]', only: ['static'] },
  runs: {
    value: 'N',
    about: 'repetitions, each with the next seed [1; static 3]',
    only: ['static', 'dynamic', 'delay'],
  },
  seed: { value: 'N', about: 'of everything random [1]' },
  grid: {
    value: 'NAME',
    about:
      'choose settings on validation data: none, small (2 each, 1 split), paper (all, 3) [none]',
    only: ['static', 'dynamic'],
  },
  'grid-file': {
    value: 'FILE',
    about: 'every finished task is kept there; starting again goes on from it',
  },
  ablate: {
    about: 'a row for each part of the default model undone alone: what it is worth on this log',
    only: ['dynamic'],
  },
  'shuffle-ties': {
    value: 'SEED',
    about: 'ratings of equal time in a random order before anything else, not in that of the file',
  },
  model: { value: 'LIST', about: 'paper, default, or both [default; static: both]' },
  loss: {
    value: 'LIST',
    about: 'squared (sl), absolute (al), kullback-leibler (gkl) [squared; static: all]',
  },
  k: { value: 'LIST', about: 'features; a list only for parameters [default model 32, paper 20]' },
  rho: {
    value: 'LIST',
    about: 'weight of the unknown ratings over the known, 0 for no prior; a list gives a row each',
  },
  lambda: { value: 'LIST', about: 'L1 penalty; a list only for parameters [0]' },
  'prior-value': {
    value: 'X',
    about: 'what an unknown rating is expected to be; squared loss only [0]',
  },
  items: {
    value: 'NAME',
    about:
      'what an item keeps of its ratings: evidence, or rows of all of them ' +
      '[default model evidence, paper rows; rows where there is a prior value]',
  },
  passes: {
    value: 'N',
    about:
      'most passes over the training ratings [12; paper 15; static 20]; ' +
      '0 streams them one by one into an empty model',
  },
  tolerance: {
    value: 'X',
    about:
      'stop when a pass lowers the objective by less than this share ' +
      '[0; paper 0.001; static 0.0005]',
  },
  delays: { value: 'LIST', about: 'ratings behind [0,1,5,10,50,100,500,1000]', only: ['delay'] },
  baselines: {
    value: 'LIST',
    about:
      'none, all, or of popularity (its half-life chosen on the block before), popularity-plain, ' +
      'popularity-0.05m to -20m, item-mean, sgd, sgd-negatives, random ' +
      '[dynamic popularity,sgd-negatives]; ' +
      'static also mult-nmf, mult-nmf-all, als',
    only: ['static', 'dynamic'],
  },
  curve: {
    value: 'FILE',
    about: 'write the curve by which the live system turns lag into expected loss (JSON)',
    only: ['delay'],
  },
  report: {
    value: 'FILE',
    about: 'write a self-contained page with tables and plots beside the paper’s (HTML)',
  },
  json: { about: 'print one JSON object instead of tables' },
  workers: {
    value: 'N',
    about: 'threads, 0 for this one alone [as many as processors]; the figures do not depend on it',
  },
  quiet: { about: 'no progress on standard error' },
  help: { about: 'this text' },
} as const satisfies Record<string, Option>;

export type OptionName = keyof typeof options;

export function helpText(): string {
  const rows = Object.entries(options).map(([name, option]: [string, Option]) => {
    const left = `--${name}${option.value ? ` ${option.value}` : ''}`;
    const only = option.only ? ` (${option.only.join(', ')})` : '';
    return wrap(left, `${option.about}${only}`);
  });
  const names = Object.entries(protocols).map(([name, about]) => wrap(name, about));
  return `freshet evaluate PROTOCOL --ratings FILE [options]

Learns from a file of ratings and measures, before anything is deployed, how good the
model is, how fast, and what being late would cost.

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

Ctrl-C prints what has been measured so far. Exit code: 0 done, 1 the data cannot answer,
2 wrong usage, 130 interrupted.
`;
}

const leftWidth = 18;
const rightWidth = 76;

function wrap(left: string, about: string): string {
  const lines: string[] = [''];
  for (const word of about.split(' ')) {
    const last = lines.length - 1;
    const longer = `${lines[last]}${lines[last] === '' ? '' : ' '}${word}`;
    if (longer.length > rightWidth) lines.push(word);
    else lines[last] = longer;
  }
  const indent = ' '.repeat(leftWidth + 4);
  return `  ${left.padEnd(leftWidth)}  ${lines.join(`\n${indent}`)}`;
}
