import { describe, expect, it } from 'vitest';
import { firstOffset, LogGap } from './first-offset.ts';

function place(
  position: number | null,
  held: [number, number],
  facts: Record<string, string> = {},
) {
  const state = { position, gram: null, outbox: null, facts };
  const [start, end] = held;
  const admin = {
    starts: async () => new Map([[0, start]]),
    ends: async () => new Map([[0, end]]),
  };
  return { source: 'ratings', partition: 0, state, model: 'm', admin };
}

describe('the first offset after a take-over', () => {
  it('is the start of the log where nothing was ever committed', async () => {
    expect(await firstOffset(place(null, [40, 90]))).toBe(40);
  });

  it('is the stored position while the log holds it, its very end included', async () => {
    expect(await firstOffset(place(40, [40, 90]))).toBe(40);
    expect(await firstOffset(place(90, [40, 90]))).toBe(90);
  });

  it('does not exist where the log was cut above the position: nothing is skipped in silence', async () => {
    await expect(firstOffset(place(39, [40, 90]))).rejects.toThrow(LogGap);
  });

  it('does not exist where the log was recreated and ends below the position', async () => {
    await expect(firstOffset(place(91, [0, 90]))).rejects.toThrow(/cut or recreated/);
  });

  it('does not exist where a source is known further than that topic now goes', async () => {
    const facts = { 'source:0': '90:2', applied: '7:1' };
    await expect(firstOffset(place(5, [0, 90], facts))).rejects.toThrow(/the topic was recreated/);
    expect(await firstOffset(place(5, [0, 90], { 'source:0': '89:2' }))).toBe(5);
  });
});
