import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { adminAddress, BadConfig, httpAddress, readSettings } from './read-settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'freshet-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readSettings(environment);
  } catch (error) {
    if (error instanceof BadConfig) return error.problems;
    throw error;
  }
  return [];
}

describe('settings', () => {
  it('fall back to the table when the environment is empty', () => {
    const chosen = readSettings({});
    expect(chosen.KAFKA_BROKERS).toEqual(['localhost:9092']);
    expect(chosen.FACTOR_COUNT).toBe(32);
    expect(chosen.STAGES).toEqual(['intake', 'users', 'items']);
    expect(chosen.RATINGS_TOPICS).toEqual(['ratings']);
  });

  it('report every problem at once, each by its name', () => {
    const problems = problemsOf({ FACTOR_COUNT: '0', KAFKA_BROKERS: 'nowhere', MODEL: 'A b' });
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'KAFKA_BROKERS',
      'MODEL',
      'FACTOR_COUNT',
    ]);
  });

  it('refuse numbers with anything else in them', () => {
    for (const bad of ['', ' ', '4x', '1e2', '0x10', '4.0', '1025']) {
      expect(problemsOf({ SHARDS: bad }), bad).toHaveLength(1);
    }
  });

  it('read a secret from the file that NAME_FILE points at, without its last line break', () => {
    const path = join(folder, 'token');
    writeFileSync(path, 's3cret\n');
    expect(readSettings({ HTTP_TOKEN_FILE: path }).HTTP_TOKEN).toBe('s3cret');
  });

  it('say so when a secret is given twice, or its file is not there', () => {
    expect(problemsOf({ HTTP_TOKEN: 'a', HTTP_TOKEN_FILE: 'b' })).toEqual([
      'HTTP_TOKEN and HTTP_TOKEN_FILE are both set: remove one of them',
    ]);
    expect(problemsOf({ HTTP_TOKEN_FILE: join(folder, 'none') })[0]).toMatch(/^HTTP_TOKEN cannot/);
  });

  it('never repeat a Redis URL, which may hold a password', () => {
    for (const url of [
      'user:hunter2@host',
      'redis://u:hunter2%@host',
      'redis://u:hunter2@host/x',
    ]) {
      expect(problemsOf({ REDIS_URL: url }).join()).toMatch(
        /^REDIS_URL must be redis:(?!.*hunter2)/,
      );
    }
  });

  it('bind HTTP to loopback until a token is set', () => {
    const hostOf = (given: Record<string, string>) =>
      httpAddress(readSettings(given), 'SCORER_PORT').host;
    expect(hostOf({})).toBe('127.0.0.1');
    expect(hostOf({ HTTP_TOKEN: 't' })).toBe('0.0.0.0');
    expect(problemsOf({ HTTP_HOST: '0.0.0.0' })[0]).toContain('HTTP_TOKEN');
    expect(problemsOf({ HTTP_HOST: '127.0.0.1' })).toEqual([]);
  });

  it('keep admin ports on loopback, with a token too, until ADMIN_HOST says otherwise', () => {
    const hostOf = (environment: Record<string, string>) =>
      adminAddress(readSettings(environment), 'UPDATER_ADMIN_PORT').host;
    expect(hostOf({})).toBe('127.0.0.1');
    expect(hostOf({ HTTP_TOKEN: 't', HTTP_HOST: '0.0.0.0' })).toBe('127.0.0.1');
    expect(hostOf({ ADMIN_HOST: '0.0.0.0' })).toBe('0.0.0.0');
    for (const bad of ['', ' ', 'http://host', '[::1]']) {
      expect(problemsOf({ ADMIN_HOST: bad })[0], bad).toMatch(/^ADMIN_HOST must be an address/);
    }
  });

  it('let an admin port on loopback answer to names of loopback only, a wider one to any', () => {
    const answers = (ADMIN_HOST: string, host: string) =>
      adminAddress(readSettings({ ADMIN_HOST }), 'SCORER_ADMIN_PORT').answersTo(['Host', host]);
    for (const bound of ['127.0.0.1', 'localhost', '::1']) {
      expect(answers(bound, 'localhost:9403'), bound).toBe(true);
      expect(answers(bound, 'rebound.example:9403'), bound).toBe(false);
    }
    expect(answers('0.0.0.0', 'scorer:9400')).toBe(true);
  });
});
