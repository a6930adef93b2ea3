/**
 * A model as the logs alone make it: one plain loop through the kernels, from the first entry to the last,
 * with no batches, commits, caches or faults.
 */
import type { PackedRating, PackedUserRating } from '@freshet/events';
import { wasmKernels } from '@freshet/kernels';
import { Evidence, EvidenceStep, HalfStep, RowWindow, startVector } from '@freshet/model';
import { settings } from './simulated-model.ts';
import type { Pinned } from './simulated-process.ts';

interface Rated {
  readonly item: string;
  readonly value: number;
  readonly time: number;
}

interface User {
  vector: Float32Array | undefined;
  /** In the order of their times, and of their arrival where those are equal. */
  row: Rated[];
  readonly gone: Map<string, number>;
}

/** What a user shard decided for an item, and the user's vector before that, as text. */
export type Told = string;

export interface ReplayedUsers {
  /** By user: the bytes of the vector, then the row in its order. */
  readonly users: ReadonlyMap<string, string>;
  readonly told: readonly Told[];
}

/** `entries`: each once, in the order of the log of one shard. */
export function replayUsers(entries: readonly PackedUserRating[], pinned: Pinned): ReplayedUsers {
  const kernels = wasmKernels();
  const halfStep = new HalfStep(kernels, settings);
  const window = new RowWindow(settings);
  const table = kernels.table(settings.factorCount);
  const slots = new Map<string, number>();
  for (const [id, vector] of pinned.items) {
    slots.set(id, table.add());
    table.write(slots.get(id) ?? 0, vector);
  }
  const users = new Map<string, User>();
  const told: Told[] = [];
  const move = (id: string, user: User): void => {
    const { row } = user;
    if (row.length === 0) {
      user.vector = undefined;
      return;
    }
    user.vector ??= startVector(id, 'user', pinned.grams, settings);
    const full = {
      slots: Uint32Array.from(row, ({ item }) => slots.get(item) ?? 0),
      values: Float32Array.from(row, ({ value }) => value),
      start: 0,
      length: row.length,
    };
    halfStep.run('user', user.vector, window.of(full), table, pinned.grams);
  };
  for (const { event } of entries) {
    const user = users.get(event.user) ?? { vector: undefined, row: [], gone: new Map() };
    if (event.kind === 'forget') {
      const items = user.row.map(({ item }) => item).sort();
      for (const item of items) {
        const old = user.row.find((each) => each.item === item)?.value ?? null;
        told.push(toldOf({ item, value: null, old, vector: user.vector ?? NOTHING }));
      }
      users.delete(event.user);
      continue;
    }
    users.set(event.user, user);
    const { item, time } = event;
    const value = event.kind === 'rate' ? event.value : null;
    const known = user.row.find((each) => each.item === item);
    if (time < (known?.time ?? user.gone.get(item) ?? 0)) continue;
    if (value !== null || known !== undefined) {
      user.vector ??= startVector(event.user, 'user', pinned.grams, settings);
      told.push(toldOf({ item, value, old: known?.value ?? null, vector: user.vector }));
    }
    user.row = user.row.filter((each) => each !== known);
    user.gone.delete(item);
    if (value === null) user.gone.set(item, time);
    else {
      const newer = user.row.findIndex((each) => each.time > time);
      user.row.splice(newer < 0 ? user.row.length : newer, 0, { item, value, time });
    }
    move(event.user, user);
  }
  const shown = [...users].map(([id, { vector, row }]) => [id, shownUser(vector, row)] as const);
  return { users: new Map(shown), told };
}

export function shownUser(vector: Float32Array | undefined, row: readonly Rated[]): string {
  const ratings = row.map(({ item, value, time }) => `${item} ${value} ${time}`);
  return [bytesOf(vector ?? NOTHING), ...ratings].join(' | ');
}

export function toldOf({
  item,
  value,
  old,
  vector,
}: Pick<PackedRating, 'item' | 'value' | 'old' | 'vector'>): Told {
  return `${item} ${value} ${old} ${bytesOf(vector)}`;
}

/** By item: the bytes of the vector and of the evidence. `entries`: each once, in the order of the log. */
export function replayItems(
  entries: readonly PackedRating[],
  { grams }: Pinned,
): Map<string, string> {
  const step = new EvidenceStep(wasmKernels(), settings);
  const items = new Map<string, { readonly vector: Float32Array; readonly evidence: Evidence }>();
  for (const { item, value, old, vector } of entries) {
    const known = items.get(item) ?? {
      vector: startVector(item, 'item', grams, settings),
      evidence: Evidence.empty(settings),
    };
    known.evidence.apply({ value, old, vector }, 0);
    if (known.evidence.count === 0) {
      items.delete(item);
      continue;
    }
    items.set(item, known);
    step.run(known.vector, known.evidence, grams);
  }
  return new Map([...items].map(([id, known]) => [id, shownItem(known.vector, known.evidence)]));
}

export function shownItem(vector: Float32Array, evidence: Evidence): string {
  return `${bytesOf(vector)} | ${Buffer.from(evidence.toBytes()).toString('hex')}`;
}

const NOTHING = new Float32Array();

export function bytesOf(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('hex');
}
