import { expect, it } from 'vitest';
import { RebuildWatch } from './rebuild-watch.ts';

function watch() {
  const shards: Record<string, string>[] = [{ position: '10' }, { position: '7' }];
  const store = { facts: async ({ shard }: { shard: number }) => shards[shard] ?? {} };
  const log = { debug: () => {} };
  const watching = new RebuildWatch({ store, partitions: 2, log });
  const after = async (change: Record<string, string>, shard = 1): Promise<string | null> => {
    shards[shard] = change;
    await watching.look();
    return watching.waitingFor();
  };
  return { watching, after };
}

it('waits for a shard that went back until it is where it was', async () => {
  const { watching, after } = watch();
  await watching.look();
  expect(watching.waitingFor()).toBeNull();
  expect(await after({})).toBe('the store to be rebuilt from the log');
  expect(await after({ position: '6' })).not.toBeNull();
  expect(await after({ position: '7' })).toBeNull();
});

it('does not wait for what a person has accepted to lose', async () => {
  const { watching, after } = watch();
  await watching.look();
  expect(await after({ position: '0', accepted: '[1]' })).toBeNull();
  expect(await after({ position: '1', accepted: '[1]' })).toBeNull();
});
