import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateRatings } from '@freshet/experiments';
import { parseLagCurve } from '@freshet/quality';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { evaluate } from './command.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evaluate-'));
  const lines = [...generateRatings({ users: 90, items: 70, ratings: 3_000, seed: 8 })].map(
    ({ user, item, value, time }) => `${user}::${item}::${value}::${Math.floor(time / 1_000)}`,
  );
  await writeFile(join(folder, 'world.dat'), lines.join('\n'));
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

interface Printed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command in this thread; {} stands for the folder of the test. */
async function run(line: string): Promise<Printed> {
  const printed = { out: '', err: '' };
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.out += String(text);
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed.err += String(text);
    return true;
  });
  const args = line.split(' ').map((part) => part.replace('{}', folder));
  const code = await evaluate([...args, '--workers', '0', '--quiet']);
  vi.restoreAllMocks();
  return { code, ...printed };
}

async function file(name: string, content: string): Promise<void> {
  await writeFile(join(folder, name), content);
}

// Seconds on a quiet machine; a busy one may need many times as long.
const patience = { timeout: 120_000 };

describe('freshet evaluate', patience, () => {
  it('prints one JSON object with the figures of the first row at its top', async () => {
    const { code, out } = await run(
      'dynamic --ratings {}/world.dat --train 2000 --test 500 --k 8 --json',
    );
    expect(code).toBe(0);
    const answer = JSON.parse(out) as Record<string, unknown> & { rows: Record<string, unknown>[] };
    expect(answer).toMatchObject({
      protocol: 'dynamic',
      train: 2_000,
      test: 500,
      interrupted: false,
    });
    for (const field of [
      'auc_served',
      'auc_strict',
      'auc_cold',
      'auc_new',
      'hit_rate_10',
      'updates_per_cpu_second',
    ]) {
      expect(answer[field]).toBe(answer.rows[0]?.[field]);
      expect(answer).toHaveProperty(field);
    }
    expect(answer.blocks).toHaveLength(10);
    expect(answer.auc_served).toBeGreaterThan(0.5);
    expect(answer.rows.map((row) => row.label)).toEqual([
      'Freshet default',
      'best popularity',
      'SGD, 10 uniform negatives',
    ]);
  });

  it('tells what each part of the model is worth', async () => {
    const { code, out } = await run(
      'dynamic --ratings {}/world.dat --train 1000 --test 200 --k 4 --passes 2 --ablate',
    );
    expect(code).toBe(0);
    expect(out).toContain('What each part is worth');
    expect(out).toMatch(/\nno recency +[+−]0\.\d{4}/);
    expect(out).toMatch(/\nfixed shrinkage +[+−]0\.\d{4}/);
  });

  it('shuffles ratings of equal time, by the seed', async () => {
    const line =
      'dynamic --ratings {}/ties.dat --train 2000 --test 500 --k 4 --baselines none --json';
    const world = await readFile(join(folder, 'world.dat'), 'utf8');
    // Cut to half-days: many ratings then have the same time.
    const ties = world.replaceAll(/\d+$/gm, (seconds) => String(Math.floor(+seconds / 43_200)));
    await file('ties.dat', ties);
    const auc = async (option: string) =>
      (JSON.parse((await run(`${line}${option}`)).out) as { auc_served: number }).auc_served;
    const [plain, first, again, second] = [
      await auc(''),
      await auc(' --shuffle-ties 1'),
      await auc(' --shuffle-ties 1'),
      await auc(' --shuffle-ties 2'),
    ];
    expect(again).toBe(first);
    expect(new Set([plain, first, second]).size).toBe(3);
  });

  it('prints the static table and writes the page', async () => {
    const line =
      'static --ratings {}/world.dat --users 20 --runs 1 --passes 4 --k 4 --report {}/static.html';
    const { code, out } = await run(line);
    expect(code).toBe(0);
    expect(out).toMatch(/SL with prior +0\.\d{4} +0\.\d{4}/);
    expect(out).toMatch(/3000 ratings, 90 users, \d+ items/);
    expect(await readFile(join(folder, 'static.html'), 'utf8')).toContain('ALS-UV');
  });

  it('chooses settings, and a second start finds them in the grid file', async () => {
    const line =
      'static --ratings {}/world.dat --users 20 --runs 1 --passes 3 --grid small --loss sl --baselines popularity --grid-file {}/grid.jsonl --json';
    const first = await run(line);
    const kept = await readFile(join(folder, 'grid.jsonl'), 'utf8');
    // Two rows with two settings each on one validation set, then six rows on the test set.
    expect(kept.trim().split('\n')).toHaveLength(10);
    const second = await run(line);
    expect(await readFile(join(folder, 'grid.jsonl'), 'utf8')).toBe(kept);
    const rows = ({ out }: Printed) => (JSON.parse(out) as { rows: unknown }).rows;
    expect(rows(second)).toEqual(rows(first));
  });

  it('writes the lag curve the live system reads', async () => {
    const { code } = await run(
      'delay --ratings {}/world.dat --train 2000 --test 500 --delays 5,100 --k 8 --curve {}/curve.json',
    );
    expect(code).toBe(0);
    const curve = parseLagCurve(await readFile(join(folder, 'curve.json'), 'utf8'));
    expect(curve.points.map(({ lag }) => lag)).toEqual([0, 5, 100]);
    expect(curve.points[0]?.loss).toBe(0);
  });

  it('sweeps parameters', async () => {
    const { code, out } = await run(
      'parameters --ratings {}/world.dat --train 2000 --test 200 --k 2,4 --lambda 0,1 --rho 0,1',
    );
    expect(code).toBe(0);
    expect(out.match(/\nk, features/g)).toHaveLength(2);
    expect(out.match(/\nρ, weight/g)).toHaveLength(2);
  });

  it('prints its help', async () => {
    expect((await run('--help')).out).toContain('freshet evaluate PROTOCOL');
  });
});

describe('freshet evaluate on data that cannot answer', patience, () => {
  it.each([
    ['an empty file', '', 'there are no ratings'],
    ['too few ratings for its blocks', 'a::x::1::1\nb::x::1::2\n', 'there are 2'],
    ['a file of something else', 'hello\nworld\n', 'cannot tell the format'],
    ['a file mostly malformed', 'a::x::1::1\na::x::?::1\n', 'malformed'],
  ])('says so for %s', async (_, content, message) => {
    await file('bad.dat', content);
    const { code, err } = await run('dynamic --ratings {}/bad.dat --train 9 --test 3');
    expect(code).toBe(1);
    expect(err).toContain(message);
  });

  it('says so for a file that is not there, and for settings out of range', async () => {
    expect(await run('static --ratings {}/nowhere.dat')).toMatchObject({
      code: 1,
      err: expect.stringContaining('nowhere'),
    });
    expect(await run('dynamic --ratings {}/world.dat --k 9999')).toMatchObject({ code: 2 });
    expect(await run('dynamic --nonsense')).toMatchObject({
      code: 2,
      err: expect.stringContaining('nonsense'),
    });
  });
});

describe('freshet evaluate on odd data', patience, () => {
  const odd = {
    'one user': Array.from({ length: 30 }, (_, i) => `a::i${i}::${1 + (i % 5)}::${i}`),
    'one item': Array.from({ length: 30 }, (_, i) => `u${i}::x::${1 + (i % 5)}::${i}`),
    'all ratings equal': Array.from(
      { length: 60 },
      (_, i) => `u${i % 7}::i${(i * 5) % 11}::3::${i}`,
    ),
    'all times equal': Array.from(
      { length: 60 },
      (_, i) => `u${i % 7}::i${(i * 5) % 11}::${1 + (i % 5)}::9`,
    ),
    'no times': Array.from({ length: 60 }, (_, i) => `u${i % 7}::i${(i * 5) % 11}::${1 + (i % 5)}`),
  };

  it.each(Object.entries(odd))('gives an answer in a stream of %s', async (name, lines) => {
    await file('odd.dat', lines.join('\n'));
    const { code, out, err } = await run(
      'dynamic --ratings {}/odd.dat --train 20 --test 10 --k 4 --json',
    );
    expect(code).toBe(0);
    const { auc_served: auc } = JSON.parse(out) as { auc_served: number | null };
    if (name === 'one item') expect(auc).toBeNull();
    else expect(auc).toBeGreaterThanOrEqual(0);
    expect(err).toBe(
      name === 'no times'
        ? `${folder}/odd.dat has no times: its lines are taken to be in order\n`
        : '',
    );
  });

  it.each(Object.entries(odd))(
    'gives an answer or a reason in the static protocol for %s',
    async (name, lines) => {
      await file('odd.dat', lines.join('\n'));
      const { code, err } = await run(
        'static --ratings {}/odd.dat --runs 1 --users 5 --passes 2 --k 2',
      );
      expect(code).toBe(name === 'one item' ? 1 : 0);
      if (name === 'one item') expect(err).toContain('single rating');
    },
  );
});
