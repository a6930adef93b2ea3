import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ImportStateFile, isRecreated } from './import-state.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'import-state-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const target = { brokers: ['a:1'], topic: 'ratings', reading: '{}' };

it('an import is known again by its file, topic, brokers and way of reading', () => {
  const file = join(folder, 'ratings.csv');
  writeFileSync(file, 'ann,tea,5\n');
  const first = ImportStateFile.of(file, target, folder);
  expect(first.read()).toBeUndefined();
  const state = { ...first.fresh({ partitions: 4 }), chunks: 3, ratings: 12_000 };
  first.write(state);
  expect(ImportStateFile.of(file, target, folder).read()).toEqual(state);
  expect(ImportStateFile.of(file, { ...target, topic: 'x' }, folder).read()).toBeUndefined();
  expect(ImportStateFile.of(file, { ...target, brokers: [] }, folder).read()).toBeUndefined();
  expect(ImportStateFile.of(file, { ...target, reading: 's' }, folder).read()).toBeUndefined();
});

it('a file that grew is another import', () => {
  const file = join(folder, 'growing.csv');
  writeFileSync(file, 'ann,tea,5\n');
  const before = ImportStateFile.of(file, target, folder);
  before.write(before.fresh({ partitions: 4 }));
  const own = join(folder, 'own');
  const alone = ImportStateFile.of(file, target, own);
  expect(alone.hasOthers).toBe(false);
  alone.write(before.fresh({ partitions: 4 }));
  expect(alone.hasOthers).toBe(false);
  appendFileSync(file, 'bob,tea,5\n');
  expect(ImportStateFile.of(file, target, folder).read()).toBeUndefined();
  expect(ImportStateFile.of(file, target, own).hasOthers).toBe(true);
});

it('a topic that holds less than it did, or has another id, was recreated', () => {
  const state = {
    file: '',
    id: 'a',
    partitions: 2,
    chunks: 1,
    ratings: 9,
    done: true,
    ends: [
      [0, 5],
      [1, 4],
    ] as const,
  };
  expect(isRecreated(state, new Map(state.ends))).toBe(false);
  expect(isRecreated(state, new Map([[0, 9]]))).toBe(true);
  const ids = ['x', 'y', undefined].map((topicId) => ({ ...state, topicId }));
  const now = ids.map((one) => isRecreated(one, new Map(state.ends), 'x'));
  expect(now).toEqual([false, true, false]);
});
