import { defaultModel } from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { ablationRows } from './ablations.ts';
import { generateRatings } from './generator.ts';
import { loadTable } from './rating-table.ts';

const training = { passes: 3, tolerance: 0 };

describe('the default model with one part undone', async () => {
  const table = await loadTable([
    [...generateRatings({ users: 40, items: 30, ratings: 400, seed: 4 })],
  ]);
  const rows = ablationRows(table, 300, training, { factorCount: 5 });

  it('differs from the whole in what its label says, and in nothing else', () => {
    const whole = { ...defaultModel, factorCount: 5 };
    for (const { label, settings } of rows) {
      const [method] = settings;
      const changed = Object.entries(whole).filter(
        ([name, value]) => method?.settings[name as keyof typeof whole] !== value,
      );
      const isTraining = method?.passes !== training.passes;
      expect([label, changed.length > 0]).toEqual([label, !isTraining]);
      expect([label, changed.length <= 3]).toEqual([label, true]);
    }
    expect(new Set(rows.map(({ label }) => label)).size).toBe(rows.length);
  });

  it('has a row that keeps no successor lists', () => {
    const settings = rows.find(({ label }) => label === 'no successor lists')?.settings[0]
      ?.settings;
    expect(settings).toEqual({ ...defaultModel, factorCount: 5, nextItems: 'none' });
  });

  it('has for a fixed shrinkage what the law has at the end of the training block', () => {
    const settings = rows.find(({ label }) => label === 'fixed shrinkage')?.settings[0]?.settings;
    const users = new Set(table.user.subarray(0, 300)).size;
    const items = new Set(table.item.subarray(0, 300)).size;
    expect(settings?.shrinkageGrowth).toBe(0);
    expect(settings?.userShrinkage).toBeCloseTo(2.2 * Math.sqrt(300 / users), 9);
    expect(settings?.itemShrinkage).toBeCloseTo(0.65 * Math.sqrt(300 / items), 9);
  });
});
