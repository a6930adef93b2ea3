/** What is wrong with a world that has healed: the store, the replicas and the grams against the log. */
import { shardOf, sides } from '@freshet/events';
import { Gram } from '@freshet/model';
import type { Replica } from '@freshet/session';
import type { MemoryStore } from '@freshet/store';
import { snapshot } from '@freshet/testkit';
import { bytesOf } from './replay.ts';
import { facingOf, ids, PARTITIONS, settings, shards } from './simulated-model.ts';
import type { SimulatedUpdater } from './simulated-process.ts';
import { truthOf } from './truth.ts';
import type { World } from './world.ts';

const GRAM_ERROR = 1e-9;

export async function wrongWith(world: World, memory: MemoryStore): Promise<string[]> {
  const found = [...world.failures.map((error) => `a process ended: ${error}`)];
  found.push(...(await world.unfinished()));
  found.push(...(await wrongRows(world, memory)));
  found.push(...(await wrongGrams(world, memory)));
  for (const updater of world.updaters) found.push(...(await wrongReplica(updater, memory)));
  return found;
}

async function wrongRows(world: World, memory: MemoryStore): Promise<string[]> {
  const found: string[] = [];
  const { ratings: expected, applied } = truthOf((partition) => world.lineage.records(partition));
  const { ratings, gramError, counted, tallies } = await snapshot(memory, PARTITIONS);
  for (const side of sides) {
    const missing = [...expected].filter((each) => !ratings[side].has(each));
    const extra = [...ratings[side]].filter((each) => !expected.has(each));
    if (missing.length + extra.length > 0) found.push(`${side} rows: −${missing} +${extra}`);
  }
  if (counted !== expected.size) found.push(`|R| is ${counted}, not ${expected.size}`);
  const { userApplied, userSent, itemApplied } = tallies;
  if (userApplied !== applied) found.push(`users applied ${userApplied}, not ${applied}`);
  if (itemApplied !== userSent) found.push(`items applied ${itemApplied}, not ${userSent}`);
  if (!(gramError < GRAM_ERROR)) found.push(`a gram is off by ${gramError}`);
  return found;
}

/** The sum that the aggregator published against the partial grams in the store. */
async function wrongGrams(world: World, memory: MemoryStore): Promise<string[]> {
  const k = settings.factorCount;
  const total = { user: Gram.zero(k), item: Gram.zero(k) };
  for (const id of shards) {
    const { gram } = await memory.inspect(id);
    if (gram !== null) total[id.side].add(Gram.fromBytes(gram, k));
  }
  const published = world.grams;
  if (published === undefined) return ['no grams were published'];
  return sides.flatMap((side) => {
    const error = distance(published[side], total[side]);
    return error < GRAM_ERROR ? [] : [`the published ${side} gram is off by ${error}`];
  });
}

function distance(one: Gram, other: Gram): number {
  const [a, b] = [one, other].map((gram) => new Float64Array(gram.toBytes().slice().buffer));
  return Math.max(0, ...Array.from(a ?? [], (cell, at) => Math.abs(cell - (b?.[at] ?? 0))));
}

/** A replica against the stored vectors of the other side, bit for bit. */
async function wrongReplica(updater: SimulatedUpdater, memory: MemoryStore): Promise<string[]> {
  const { replica } = updater;
  if (replica === undefined) return [];
  const side = facingOf(updater.side);
  const found: string[] = [];
  for (let shard = 0; shard < PARTITIONS; shard++) {
    // A shard that has lost everything tells replicas with its first commit, whatever was accepted before.
    if ((await memory.inspect({ side, shard })).facts.sequence === undefined) continue;
    const stored = new Map<string, string>();
    for await (const [id, { vector }] of memory.vectors({ side, shard })) {
      if (vector.length > 0) stored.set(id, bytesOf(vector));
    }
    for (const id of ids[side].filter((each) => shardOf(each, PARTITIONS) === shard)) {
      if (heldBy(replica, id) !== stored.get(id)) found.push(`a replica has another ${id}`);
    }
  }
  return found;
}

function heldBy(replica: Replica, id: string): string | undefined {
  const slot = replica.slotOf(id);
  if (slot === undefined || !replica.isPresent(slot)) return undefined;
  const vector = new Float32Array(settings.factorCount);
  replica.table.read(slot, vector);
  return bytesOf(vector);
}
