/**
 * A shard as the log alone makes it: one plain loop through the model, from the first record to the
 * last, with no batches, commits, caches or faults.
 */
import { itemRatingsCodec, packedRatings, type Side, shardOf } from '@freshet/events';
import { wasmKernels } from '@freshet/kernels';
import { HalfStep, RowSampler, startVector } from '@freshet/model';
import type { LogRecord } from '@freshet/stream';
import type { MemoryLog } from '@freshet/testkit';
import { facingOf, settings, sourceOf } from './simulated-model.ts';
import type { Pinned } from './simulated-process.ts';

interface Change {
  readonly owner: string;
  /** Absent: the owner is forgotten. */
  readonly neighbour?: string;
  readonly value?: number | null;
  readonly time?: number;
  readonly offset: number;
  /** What a repetition of this record has in common with it. */
  readonly source: string | undefined;
}

function read(side: Side, { key, value, headers, offset }: LogRecord): Change[] {
  if (side === 'item') {
    const { sourceShard, entries } = itemRatingsCodec.decode(value ?? Buffer.alloc(0));
    return [...packedRatings(entries)].map(({ item, user, sourceOffset, ordinal, ...decided }) => ({
      owner: item,
      neighbour: user,
      value: decided.value,
      time: decided.time,
      offset: sourceOffset,
      source: `${sourceShard}/${sourceOffset}/${ordinal}`,
    }));
  }
  const source = headers['freshet-source'];
  if (value === null) return [{ owner: String(key), offset, source }];
  const { user, item, ...rating } = JSON.parse(String(value));
  return [{ owner: user, neighbour: item, value: rating.value, time: rating.time, offset, source }];
}

/** The bytes of every vector of a side, by id. */
export function replay(log: MemoryLog, side: Side, pinned: Pinned): Map<string, string> {
  const kernels = wasmKernels();
  const halfStep = new HalfStep(kernels, settings);
  const sampler = new RowSampler(settings);
  const table = kernels.table(settings.factorCount);
  const slots = new Map<string, number>();
  for (const [id, vector] of pinned.vectors[facingOf(side)]) {
    slots.set(id, table.add());
    table.write(slots.get(id) ?? 0, vector);
  }
  const vectors = new Map<string, Float32Array>();
  const rows = new Map<string, Map<string, { value: number | null; time: number }>>();
  const move = (owner: string, offset: number): void => {
    const rated = [...(rows.get(owner) ?? [])].filter(([, { value }]) => value !== null);
    if (rated.length === 0) return void vectors.delete(owner);
    const full = {
      slots: Uint32Array.from(rated, ([neighbour]) => slots.get(neighbour) ?? 0),
      values: Float32Array.from(rated, ([, { value }]) => value ?? 0),
      start: 0,
      length: rated.length,
    };
    const own = vectors.get(owner) ?? startVector(owner, side, pinned.grams, settings);
    halfStep.run(side, own, sampler.sample(side, full, owner, offset), table, pinned.grams);
    vectors.set(owner, own);
  };
  for (let partition = 0; partition < log.partitions; partition++) {
    const seen = new Set<string>();
    for (const change of log.records(sourceOf(side), partition).flatMap((r) => read(side, r))) {
      const { owner, neighbour, value = null, time = 0, offset, source } = change;
      if (source !== undefined && seen.has(source)) continue;
      if (source !== undefined) seen.add(source);
      if (shardOf(owner, log.partitions) !== partition) continue;
      if (neighbour === undefined) {
        rows.delete(owner);
        vectors.delete(owner);
        continue;
      }
      const row = rows.get(owner) ?? new Map();
      rows.set(owner, row);
      if (side === 'user' && (row.get(neighbour)?.time ?? 0) > time) continue;
      row.delete(neighbour);
      row.set(neighbour, { value, time });
      move(owner, offset);
    }
  }
  return new Map([...vectors].map(([id, vector]) => [id, bytesOf(vector)]));
}

export function bytesOf(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('hex');
}
