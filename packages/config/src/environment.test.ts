import { afterEach, expect, it, vi } from 'vitest';
import { isGiven } from './environment.ts';

afterEach(() => vi.unstubAllEnvs());

it.each([
  ['KAFKA_BROKERS', 'KAFKA_BROKERS'],
  ['KAFKA_BOOTSTRAP_SERVERS', 'KAFKA_BROKERS'],
  ['REDIS_URL_FILE', 'REDIS_URL'],
] as const)('by %s, %s is given', (variable, name) => {
  for (const each of [name, variable]) vi.stubEnv(each, '');
  expect(isGiven(name)).toBe(false);
  vi.stubEnv(variable, 'servers');
  expect(isGiven(name)).toBe(true);
});
