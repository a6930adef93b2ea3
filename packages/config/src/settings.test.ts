import { describe, expect, it } from 'vitest';
import { readSettings } from './read-settings.ts';
import { type SettingName, settings } from './settings.ts';

const names = Object.keys(settings) as SettingName[];

describe('the table of settings', () => {
  it('has a default for every setting that its own reader accepts', () => {
    for (const name of names) {
      expect(() => settings[name].read(settings[name].fallback), name).not.toThrow();
    }
    expect(Object.keys(readSettings({}))).toEqual(names);
  });

  it('tells of every setting what it is for, in one line', () => {
    for (const name of names) {
      expect(name).toMatch(/^[A-Z][A-Z_]*[A-Z]$/);
      expect(settings[name].about, name).toMatch(/^\S[^\n]{5,}[^.\s]$/);
    }
  });

  it('lets whatever may hold a password come from a file', () => {
    const secrets = names.filter((name) => 'secret' in settings[name]);
    expect(secrets).toEqual(
      expect.arrayContaining(['KAFKA_SASL_PASSWORD', 'REDIS_URL', 'HTTP_TOKEN']),
    );
  });

  it('takes no setting twice: each name is one setting, and nobody else’s _FILE', () => {
    for (const name of names) expect(names).not.toContain(`${name}_FILE`);
  });
});
