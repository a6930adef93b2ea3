import { readSettings } from '@freshet/config';
import { defaultModel } from '@freshet/model';
import { internalRecord } from '@freshet/stream';
import { expect, it } from 'vitest';
import { agreementOf, modelSettingsOf } from './open-session.ts';

it('learns with the default model when nothing is set', () => {
  expect(modelSettingsOf(readSettings({}))).toEqual(defaultModel);
});

it('records and store have one format, so that versions with other records refuse the store', () => {
  const { headers = {} } = internalRecord({ topic: 'm.grams', key: null, value: null });
  const { format } = agreementOf(readSettings({})).manifest;
  expect(headers['freshet-format']).toBe(String(format));
});
