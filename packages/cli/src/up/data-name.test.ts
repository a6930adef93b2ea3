import { fileURLToPath } from 'node:url';
import { STORE_FORMAT } from '@freshet/session';
import { expect, it } from 'vitest';
import { dataName } from './own-ratings.ts';

const path = fileURLToPath(import.meta.url);
const file = { path, format: undefined, columns: undefined, kinds: new Map() };

it('the demo has the plain folder of the store format', () => {
  expect(dataName(undefined, undefined)).toBe(`up-${STORE_FORMAT}`);
});

it('a file, another way to read it, and a Kafka of the user have folders of their own', () => {
  const names = [
    dataName(undefined, undefined),
    dataName(file, undefined),
    dataName({ ...file, columns: 'user=2' }, undefined),
    dataName({ ...file, format: 'tsv' }, undefined),
    dataName({ ...file, kinds: new Map([['view', 1]]) }, undefined),
    dataName(undefined, ['kafka.shop:9092']),
    dataName(file, ['kafka.shop:9092']),
  ];
  expect(new Set(names).size).toBe(names.length);
  expect(names[1]).toMatch(/^up-\d+-data-name-test-ts-[0-9a-f]{8}$/);
  expect(names[5]).toMatch(/^up-\d+-kafka-shop-9092-[0-9a-f]{8}$/);
});
