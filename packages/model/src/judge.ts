/**
 * Does an event change the rating of its user and item? Services, `factorize` and experiments all
 * use this one function. The event with the later time wins; at equal times the later one in the
 * log wins, so events must be judged in the order of the log.
 */

/** The last event of a cell that was not stale. A null value is a tombstone: it was taken back. */
export interface KnownCell {
  readonly value: number | null;
  /** ms */
  readonly time: number;
}

export type Decision =
  /** Older than the known event: nothing changes. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'new' }
  | { readonly kind: 'changed'; readonly old: number }
  /** The rating is taken back. */
  | { readonly kind: 'removed'; readonly old: number }
  /** Taken back without a rating: a tombstone keeps out older ratings that arrive later. */
  | { readonly kind: 'buried' };

export function judge(
  event: { readonly value: number | null; readonly time: number },
  known: KnownCell | undefined,
): Decision {
  if (known !== undefined && event.time < known.time) return { kind: 'stale' };
  const old = known?.value ?? null;
  if (event.value === null) return old === null ? { kind: 'buried' } : { kind: 'removed', old };
  return old === null ? { kind: 'new' } : { kind: 'changed', old };
}
