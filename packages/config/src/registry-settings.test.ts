import { describe, expect, it } from 'vitest';
import { readSettings } from './read-settings.ts';

const url = { SCHEMA_REGISTRY_URL: 'https://registry:8081' };
const user = { SCHEMA_REGISTRY_USERNAME: 'ada', SCHEMA_REGISTRY_PASSWORD: 'hush' };
const token = { SCHEMA_REGISTRY_TOKEN: 'abc' };

describe('the settings of a schema registry', () => {
  it('are none, a URL alone, or a URL with a password or a token', () => {
    for (const good of [{}, url, { ...url, ...user }, { ...url, ...token }]) {
      expect(() => readSettings(good)).not.toThrow();
    }
  });

  it('are never given by half, nor twice', () => {
    const cases: [Record<string, string>, RegExp][] = [
      [{ ...url, SCHEMA_REGISTRY_USERNAME: 'ada' }, /must be set together/],
      [{ ...url, ...user, ...token }, /both set: remove one/],
      [token, /SCHEMA_REGISTRY_URL must be set/],
      [{ SCHEMA_REGISTRY_URL: 'https://ada:hush@registry' }, /holds a user name/],
      [{ SCHEMA_REGISTRY_URL: 'registry:8081' }, /must be http:\/\//],
    ];
    for (const [environment, problem] of cases) {
      expect(() => readSettings(environment)).toThrow(problem);
    }
  });
});
