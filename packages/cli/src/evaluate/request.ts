/** What the command line asks for: every number and name is checked before a file is opened. */
import { availableParallelism } from 'node:os';
import { grids } from '@freshet/experiments';
import type { LossName, ModelSettings } from '@freshet/model';
import { givenOf, WrongUsage } from '../operator-command.ts';
import { readingOf } from '../ratings-file-options.ts';
import { type OptionName, options, type Protocol, protocols } from './options.ts';

export type ModelName = 'paper' | 'default';

export type Request = NonNullable<ReturnType<typeof readRequest>>;

const lossNames: Readonly<Record<string, LossName>> = {
  squared: 'squared',
  sl: 'squared',
  absolute: 'absolute',
  al: 'absolute',
  'kullback-leibler': 'kullback-leibler',
  gkl: 'kullback-leibler',
};

const allModels: readonly ModelName[] = ['paper', 'default'];
const allLosses: readonly LossName[] = ['squared', 'absolute', 'kullback-leibler'];
const usualDelays: readonly number[] = [0, 1, 5, 10, 50, 100, 500, 1_000];

/** Returns undefined if the user asked for help. */
export function readRequest(args: readonly string[]) {
  const { values, positionals } = givenOf(options, args);
  if (values.help || args.length === 0) return undefined;
  const [name, ...extra] = positionals;
  if (name === undefined || !(name in protocols) || extra.length > 0) {
    throw new WrongUsage(`one protocol is needed: ${Object.keys(protocols).join(', ')}`);
  }
  const protocol = name as Protocol;
  const given = new Given(values, protocol);
  const isStatic = protocol === 'static';
  const ks = given.numbers('k', 1, protocol === 'parameters');
  const rhos = given.numbers('rho', 0, true);
  const lambdas = given.numbers('lambda', 0, protocol === 'parameters');
  const priorValue = given.numbers('prior-value', -1_000, false)[0];
  // Only rows can be used with a prior value.
  const items = given.oneOf('items', ['evidence', 'rows']) ?? (priorValue ? 'rows' : undefined);
  const single = (list: readonly number[]) => (list.length === 1 ? list[0] : undefined);
  const [k, lambda] = [single(ks), single(lambdas)];
  /** Settings that are the same in every row. */
  const fixed: Partial<ModelSettings> = {
    ...(k !== undefined && { factorCount: k }),
    ...(lambda !== undefined && { lambda }),
    ...(priorValue !== undefined && { priorValue }),
    ...(items !== undefined && { items }),
  };
  const ratings = given.text('ratings');
  if (ratings === undefined) throw new WrongUsage('--ratings is needed');
  const delays = given.numbers('delays', 0, true);
  return {
    protocol,
    ratings,
    reading: readingOf({
      format: given.text('format'),
      columns: given.text('columns'),
      dates: given.text('dates'),
    }),
    train: given.count('train', 1),
    test: given.count('test', 1),
    users: given.count('users', 1) ?? 1_000,
    runs: given.count('runs', 1) ?? (isStatic ? 3 : 1),
    seed: given.count('seed', 0) ?? 1,
    grid: given.oneOf('grid', grids) ?? 'none',
    gridFile: given.text('grid-file'),
    models:
      given.list<ModelName>('model', { paper: 'paper', default: 'default' }) ??
      (isStatic ? allModels : allModels.slice(1)),
    losses: given.list('loss', lossNames) ?? (isStatic ? allLosses : allLosses.slice(0, 1)),
    ks,
    rhos,
    lambdas,
    fixed,
    // Where these are undefined, the model and the protocol have defaults.
    passes: given.count('passes', 0),
    tolerance: given.numbers('tolerance', 0, false)[0],
    ablate: values.ablate === true,
    shuffleTies: given.count('shuffle-ties', 0),
    delays: delays.length > 0 ? delays : usualDelays,
    baselines: given.text('baselines')?.split(','),
    curve: given.text('curve'),
    report: given.text('report'),
    json: values.json === true,
    workers: given.count('workers', 0) ?? availableParallelism(),
    quiet: values.quiet === true,
  };
}

type Values = ReturnType<typeof givenOf<typeof options>>['values'];

/** The values of the options, each checked as it is read. */
class Given {
  readonly #values: Values;

  constructor(values: Values, protocol: Protocol) {
    this.#values = values;
    for (const [name, { only = [protocol] }] of Object.entries(options)) {
      if (values[name as OptionName] === undefined || only.includes(protocol)) continue;
      throw new WrongUsage(`--${name} means nothing to ${protocol}`);
    }
  }

  text(name: OptionName): string | undefined {
    const value = this.#values[name];
    return typeof value === 'string' ? value : undefined;
  }

  count(name: OptionName, least: number): number | undefined {
    const [value] = this.numbers(name, least, false);
    if (value !== undefined && !Number.isInteger(value)) {
      throw new WrongUsage(`--${name} must be a whole number, not ${value}`);
    }
    return value;
  }

  numbers(name: OptionName, least: number, many: boolean): number[] {
    const text = this.text(name);
    if (text === undefined) return [];
    const numbers = text
      .split(',')
      .map((part) => (part.trim() === '' ? Number.NaN : Number(part.replaceAll('_', ''))));
    if (numbers.some((number) => !Number.isFinite(number) || number < least)) {
      throw new WrongUsage(
        `--${name} must be ${many ? 'numbers' : 'a number'} of at least ${least}, not ${text}`,
      );
    }
    if (!many && numbers.length > 1)
      throw new WrongUsage(`--${name} takes one number here, not ${text}`);
    return numbers;
  }

  oneOf<T extends string>(name: OptionName, allowed: readonly T[]): T | undefined {
    const text = this.text(name);
    const found = allowed.find((candidate) => candidate === text);
    if (text !== undefined && found === undefined) {
      throw new WrongUsage(`--${name} must be one of ${allowed.join(', ')}, not ${text}`);
    }
    return found;
  }

  list<T>(name: OptionName, allowed: Readonly<Record<string, T>>): T[] | undefined {
    return this.text(name)
      ?.split(',')
      .map((part) => {
        const found = allowed[part];
        if (found === undefined) {
          throw new WrongUsage(
            `--${name} must be of ${Object.keys(allowed).join(', ')}, not ${part}`,
          );
        }
        return found;
      });
  }
}
