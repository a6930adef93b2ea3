/** `freshet load` on a real system: what it sends is learnt, and what it measures happened. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, eventually, System } from '@freshet/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('../../packages/cli/dist/main.js', import.meta.url));
const RATE = 300;
let system: System;

function load(...args: string[]): Command {
  const variables = { ...system.environment, XDG_CACHE_HOME: join(system.folder, 'cache') };
  return new Command(process.execPath, [MAIN, 'load', ...args], variables);
}

/** Runs a load to its end; returns its summary. */
async function summary(...args: string[]) {
  const command = load('--json', '--quiet', '--rate', `${RATE}`, '--users', '500', ...args);
  const code = await command.exited;
  expect(command.complaints).toEqual([]);
  return { code, ...JSON.parse(command.out) };
}

async function produced(): Promise<number> {
  const ends = await system.withSession(({ admin }) => admin.ends('ratings'));
  return [...ends.values()].reduce((sum, end) => sum + end, 0);
}

beforeAll(async () => {
  system = await System.start();
});

afterAll(() => system?.close());

it('sends ratings and requests at the rate that was asked for, and sees all of them learnt', async () => {
  const totals = await summary('--duration', '2', '--requests', '100');
  expect(totals).toMatchObject({ code: 0, errors: 0, unsent: 0, unlearnt: 0 });
  // Poisson with means of 600 and 200: five standard deviations.
  expect(Math.abs(totals.sent - 2 * RATE)).toBeLessThan(5 * Math.sqrt(2 * RATE));
  expect(Math.abs(totals.requests - 200)).toBeLessThan(5 * Math.sqrt(200));
  for (const { p50, p99, p999, max } of [totals.ratingMs, totals.requestMs]) {
    expect([p50, p99, p999, max].sort((a, b) => a - b)).toEqual([p50, p99, p999, max]);
    expect(p50).toBeGreaterThan(0);
  }
  expect(await produced()).toBe(totals.sent);
  const { applied, ratings } = await system.snapshot();
  expect(applied).toBe(totals.sent);
  const numbers = [...ratings].map((rating) => Number(/^load-u(\d+) load-i\d+ /.exec(rating)?.[1]));
  expect(Math.max(...numbers)).toBe(totals.lastUser);
});

it('does not write made-up ratings into a model that has ratings, unless told to', async () => {
  const before = await produced();
  const command = load();
  expect(await command.exited).toBe(1);
  expect(command.err).toMatch(/the model default has \d+ ratings.*or say --yes/);
  expect(await produced()).toBe(before);
});

it('keeps to its schedule while the system stands still, and counts from the scheduled time', async () => {
  const before = await produced();
  const { pid } = system.child('updater');
  if (pid === undefined) throw new Error('the updater does not run');
  process.kill(pid, 'SIGSTOP');
  const running = summary('--duration', '2', '--seed', '2', '--yes');
  // The ratings of the first second have come, although nobody learns them.
  await eventually('a second of ratings', async () => (await produced()) >= before + RATE);
  process.kill(pid, 'SIGCONT');
  const totals = await running;
  expect(totals).toMatchObject({ code: 0, errors: 0, unsent: 0, unlearnt: 0 });
  expect(Math.abs(totals.sent - 2 * RATE)).toBeLessThan(5 * Math.sqrt(2 * RATE));
  // The 300th rating is due after a second, give or take five standard deviations; the first
  // ones had waited for it.
  expect(totals.ratingMs.max).toBeGreaterThan(1_000 * (1 - 5 / Math.sqrt(RATE)));
});

it('ends on Ctrl-C with its summary, and its users can be forgotten', async () => {
  const before = await produced();
  const command = load('--yes', '--duration', '600', '--users', '500', '--new-users', '0.5');
  await eventually('some ratings', async () => (await produced()) > before + 100);
  command.signal('SIGINT');
  expect(await command.exited, command.err).toBe(0);
  const [, sent] = /^(\d+) ratings sent to ratings in/m.exec(command.out) ?? [];
  expect(await produced()).toBe(before + Number(sent));
  expect(command.out).toContain('0 not learnt, 0 not sent in time, 0 errors');
  const [, last = ''] = /freshet load --forget (\d+)$/m.exec(command.out) ?? [];
  expect(await load('--forget', last).exited).toBe(0);
  const { ratings } = await system.snapshot();
  expect([...ratings]).toEqual([]);
});
