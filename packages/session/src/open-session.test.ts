import { readSettings } from '@freshet/config';
import { defaultModel } from '@freshet/model';
import { expect, it } from 'vitest';
import { modelSettingsOf } from './open-session.ts';

it('learns with the default model when nothing is set', () => {
  expect(modelSettingsOf(readSettings({}))).toEqual(defaultModel);
});
