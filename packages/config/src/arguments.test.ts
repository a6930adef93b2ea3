import { expect, it } from 'vitest';
import { settingsHelp, settingsInArguments } from './arguments.ts';
import { BadConfig } from './read-settings.ts';

it('reads settings in either spelling of a command line', () => {
  expect(settingsInArguments(['--stages', 'users', '--factor-count=20'])).toEqual({
    STAGES: 'users',
    FACTOR_COUNT: '20',
  });
});

it('refuses what it does not know, what lacks a value and what is secret, all at once', () => {
  const bad = () => settingsInArguments(['--colour', '--http-token=x', 'stray', '--stages']);
  expect(bad).toThrow(BadConfig);
  expect(bad).toThrow(/--colour.*--http-token is a secret.*stray.*--stages needs a value/s);
});

it('lists every setting that is not secret', () => {
  expect(settingsHelp('updater')).toContain('--stages');
  expect(settingsHelp('updater')).not.toContain('--http-token');
});
