import type { SourcePartition } from '@freshet/positions';
import { NO_FACTS, NO_TALLY } from '@freshet/store';
import { expect, it } from 'vitest';
import { RebuildWatch } from './rebuild-watch.ts';

const WAITS = 'the store to be rebuilt from the log';

function watch() {
  const positions: (number | null)[] = [10, 7];
  const accepted: string[] = [];
  let sources: SourcePartition[] = [];
  const head = async ({ shard }: { shard: number }) => {
    const acceptances = accepted.map((at) => ({ at, kind: 'cut', from: 0, next: 1 }));
    const facts = { ...NO_FACTS, accepted: acceptances };
    return { position: positions[shard] ?? null, fence: 1, commit: 'c', facts };
  };
  const told: number[] = [];
  const watching = new RebuildWatch({
    store: { head },
    shards: 2,
    sources: () => sources,
    onHead: (shard) => void told.push(shard),
    log: { debug: () => {} },
  });
  const look = async (): Promise<string | null> => {
    await watching.look();
    return watching.waitingFor();
  };
  const at = (position: number | null) => {
    positions[1] = position;
    return look();
  };
  const reading = (position: number | null, end: number, life: number) => {
    const mark = { topicId: 't', life, sent: NO_TALLY };
    sources = [{ topic: 'ratings', partition: 0, start: 0, end, position, mark }];
    return look();
  };
  return { look, at, reading, accepted, told };
}

it('waits for a shard that went back until it is where it was', async () => {
  const { look, at, told } = watch();
  expect(await look()).toBeNull();
  expect(await at(null)).toBe(WAITS);
  expect(await at(6)).toBe(WAITS);
  expect(await at(7)).toBeNull();
  expect(told).toEqual([0, 1, 0, 1, 0, 1, 0, 1]);
});

it('does not wait for what a person has accepted to lose', async () => {
  const { look, at, accepted } = watch();
  await look();
  accepted.push('yesterday');
  expect(await at(0)).toBeNull();
  expect(await at(1)).toBeNull();
  expect(await at(0)).toBe(WAITS);
});

it('waits for sources that are read again until they are read as far as they went then', async () => {
  const { reading } = watch();
  expect(await reading(100, 100, 3)).toBeNull();
  expect(await reading(null, 100, 0)).toBeNull();
  expect(await reading(10, 120, 8)).toBe(WAITS);
  expect(await reading(119, 150, 8)).toBe(WAITS);
  expect(await reading(120, 150, 8)).toBeNull();
  expect(await reading(10, 150, 9)).toBe(WAITS);
});

it('does not wait for a partition that is new', async () => {
  const { reading } = watch();
  expect(await reading(null, 100, 0)).toBeNull();
  expect(await reading(10, 100, 8)).toBeNull();
});
