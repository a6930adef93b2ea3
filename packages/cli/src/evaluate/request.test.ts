import { describe, expect, it } from 'vitest';
import { WrongUsage } from '../operator-command.ts';
import { leftWords } from '../progress-line.ts';
import { helpText, options, protocols } from './options.ts';
import { toJson } from './outcome.ts';
import { readRequest } from './request.ts';
import { dynamicRows, staticRows } from './rows.ts';

function request(line: string) {
  const read = readRequest(line.split(' '));
  if (read === undefined) throw new Error('help was asked for');
  return read;
}

describe('the command line of freshet evaluate', () => {
  it('has the protocol’s usual numbers where none are given', () => {
    expect(request('dynamic --ratings r.dat')).toMatchObject({
      runs: 1,
      seed: 1,
      grid: 'none',
      models: ['default'],
      losses: ['squared'],
      ablate: false,
      shuffleTies: undefined,
    });
    expect(request('static --ratings r.dat')).toMatchObject({
      users: 1_000,
      runs: 3,
      models: ['paper', 'default'],
    });
    expect(request('delay --ratings r.dat').delays).toEqual([0, 1, 5, 10, 50, 100, 500, 1_000]);
  });

  it('reads numbers, lists and columns', () => {
    const read = request(
      'dynamic --ratings r --train 600_000 --loss sl,gkl --rho 1,0 --k 32 --columns user=2,item=who',
    );
    expect(read).toMatchObject({
      train: 600_000,
      losses: ['squared', 'kullback-leibler'],
      rhos: [1, 0],
      fixed: { factorCount: 32 },
      reading: { columns: { user: '2', item: 'who' } },
    });
  });

  it('reads what items keep, which for a prior value can only be rows', () => {
    expect(request('dynamic --ratings r').fixed).toEqual({});
    expect(request('dynamic --ratings r --items rows').fixed).toEqual({ items: 'rows' });
    const fixed = { priorValue: 2, items: 'rows' };
    expect(request('dynamic --ratings r --prior-value 2').fixed).toEqual(fixed);
    expect(request('dynamic --ratings r --prior-value 0').fixed).toEqual({ priorValue: 0 });
  });

  it.each([
    ['static', '--ratings is needed'],
    ['--ratings r', 'one protocol is needed'],
    ['everything --ratings r', 'one protocol is needed'],
    ['dynamic --ratings r --train many', '--train must be a number'],
    ['dynamic --ratings r --train 1.5', '--train must be a whole number'],
    ['dynamic --ratings r --test 0', 'at least 1'],
    ['dynamic --ratings r --k 5,10', 'takes one number'],
    ['dynamic --ratings r --loss hinge', '--loss must be of'],
    ['dynamic --ratings r --items users', '--items must be one of evidence, rows'],
    ['dynamic --ratings r --grid huge', '--grid must be one of none, small, paper'],
    ['dynamic --ratings r --columns who=1', '--columns must be like'],
    ['static --ratings r --ablate', '--ablate means nothing to static'],
    ['dynamic --ratings r --shuffle-ties x', '--shuffle-ties must be a number'],
    ['dynamic --ratings r --delays 5', '--delays means nothing to dynamic'],
    ['static --ratings r --train 5', '--train means nothing to static'],
    ['dynamic --ratings r --frobnicate', 'frobnicate'],
  ])('says what is wrong with: %s', (line, message) => {
    expect(() => request(line)).toThrow(WrongUsage);
    expect(() => request(line)).toThrow(message);
  });

  it('asks for help with --help or with nothing', () => {
    expect(readRequest(['--help'])).toBeUndefined();
    expect(readRequest([])).toBeUndefined();
    expect(readRequest(['static', '--help'])).toBeUndefined();
  });

  it('explains every option and protocol in its help, in 100 columns', () => {
    const text = helpText();
    for (const name of Object.keys(options)) expect(text).toContain(`--${name}`);
    for (const name of Object.keys(protocols)) expect(text).toContain(`\n  ${name}`);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });
});

describe('the rows asked for', () => {
  const labels = (rows: readonly { readonly label: string }[]) => rows.map(({ label }) => label);

  it('are every row of the paper’s static table, and more, by default', () => {
    expect(labels(staticRows(request('static --ratings r')))).toEqual([
      'SL with prior',
      'SL without prior',
      'AL with prior',
      'AL without prior',
      'GKL with prior',
      'GKL without prior',
      'Freshet, for what comes next',
      'Freshet, for liking',
      'Freshet, expected value',
      'Mult-NMF',
      'Mult-NMF, all cells',
      'ALS-UV',
      'popularity',
      'damped item mean',
    ]);
  });

  it('learn from the training ratings for as long as is usual for the model and the protocol', () => {
    const training = (line: string) =>
      [...dynamicRows(request(`dynamic --ratings r --baselines none ${line}`))].map((row) => {
        const [method] = row.settings;
        return method?.kind === 'model' ? [method.passes, method.tolerance] : [];
      });
    expect(training('--model default,paper')).toEqual([
      [12, 0],
      [15, 0.001],
    ]);
    expect(training('--passes 3 --tolerance 0.1')).toEqual([[3, 0.1]]);
  });

  it('have two settings each in the small grid and the paper’s counts in the full one', () => {
    const counts = (grid: string) =>
      Object.fromEntries(
        staticRows(request(`static --ratings r --grid ${grid}`)).map((row) => [
          row.label,
          row.settings.length,
        ]),
      );
    expect(counts('small')).toMatchObject({
      'SL with prior': 2,
      'SL without prior': 2,
      'ALS-UV': 2,
      'Mult-NMF': 2,
    });
    // table:parameters: 6 k × 5 λ × 4 ρ, 6 k × 5 λ, 5 k × 5 λ, 5 k.
    expect(counts('paper')).toMatchObject({
      'AL with prior': 120,
      'AL without prior': 30,
      'ALS-UV': 25,
      'Mult-NMF': 5,
    });
    expect(counts('none')).toMatchObject({ 'SL with prior': 1, 'ALS-UV': 1 });
  });

  it('follow --model, --loss and --rho in a stream', () => {
    const asked = (line: string) =>
      labels(dynamicRows(request(`dynamic --ratings r --baselines none ${line}`)));
    expect(asked('--model paper --loss sl,al --rho 1,0')).toEqual([
      'SL with prior',
      'SL without prior',
      'AL with prior',
      'AL without prior',
    ]);
    expect(asked('--model paper,default --rho 1,2')).toEqual([
      'SL with prior, ρ=1',
      'SL with prior, ρ=2',
      'Freshet default, ρ=1',
      'Freshet default, ρ=2',
    ]);
    expect(asked('--k 8')).toEqual(['Freshet default']);
  });

  it('refuse a baseline nobody knows', () => {
    expect(() => dynamicRows(request('dynamic --ratings r --baselines als'))).toThrow(WrongUsage);
    expect(labels(dynamicRows(request('dynamic --ratings r --baselines all')))).toHaveLength(16);
  });
});

describe('what is printed', () => {
  it('has the names of the method page in JSON, and null where there is no number', () => {
    const named = { aucServed: 1, hitRate10: 2, hitRate10Cold: 3, updatesPerCpuSecond: 4 };
    expect(toJson({ ...named, ndcgRiLinear: 5 })).toEqual({
      auc_served: 1,
      hit_rate_10: 2,
      hit_rate_10_cold: 3,
      updates_per_cpu_second: 4,
      ndcg_ri_linear: 5,
    });
    expect(toJson({ aucNew: undefined, blocks: [{ aucServed: 1 }] })).toEqual({
      auc_new: null,
      blocks: [{ auc_served: 1 }],
    });
  });

  it('tells the time left as one would say it', () => {
    expect([undefined, 5.2, 600, 7_200].map(leftWords)).toEqual([
      '',
      '6 s left',
      '10 min left',
      '2.0 h left',
    ]);
  });
});
