import { fileURLToPath } from 'node:url';
import { STORE_FORMAT } from '@freshet/session';
import { expect, it } from 'vitest';
import { dataName } from './data-name.ts';

const path = fileURLToPath(import.meta.url);
const file = { path, format: undefined, columns: undefined, kinds: new Map() };

it('the demo has the plain folder of the store format', () => {
  expect(dataName(undefined, undefined, 'default')).toBe(`up-${STORE_FORMAT}`);
});

it('a file, another way to read it, a Kafka of the user and another model on it have folders of their own', () => {
  const names = [
    dataName(undefined, undefined, 'default'),
    dataName(file, undefined, 'default'),
    dataName({ ...file, columns: 'user=2' }, undefined, 'default'),
    dataName({ ...file, format: 'tsv' }, undefined, 'default'),
    dataName({ ...file, kinds: new Map([['view', 1]]) }, undefined, 'default'),
    dataName(undefined, ['kafka.shop:9092'], 'default'),
    dataName(file, ['kafka.shop:9092'], 'default'),
    dataName(undefined, ['kafka.shop:9092'], 'liking'),
  ];
  expect(new Set(names).size).toBe(names.length);
  expect(names[1]).toMatch(/^up-\d+-data-name-test-ts-[0-9a-f]{8}$/);
  expect(names[5]).toMatch(/^up-\d+-kafka-shop-9092-[0-9a-f]{8}$/);
});
