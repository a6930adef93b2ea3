/**
 * A record that came on the wrong partition and was sent on: its header tells which model sent it and
 * where it lay first, so that a repetition is known, and other models pass over it.
 */
import type { LogRecord } from './log-record.ts';

export const STRAY_HEADER = 'freshet-source';

export interface StraySource {
  readonly model: string;
  readonly partition: number;
  readonly offset: number;
}

export function strayHeader({ model, partition, offset }: StraySource): string {
  return `${model}/${partition}/${offset}`;
}

/** undefined where nobody sent the record on, or the header is not one of ours. */
export function straySource({ headers }: LogRecord): StraySource | undefined {
  const header = headers[STRAY_HEADER];
  if (header === undefined) return undefined;
  const parts = /^([^/]+)\/(\d+)\/(\d+)$/.exec(header);
  const [, model, partition, offset] = parts ?? [];
  if (model === undefined) return undefined;
  return { model, partition: Number(partition), offset: Number(offset) };
}
