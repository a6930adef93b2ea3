/**
 * What becomes of an event, given what is known of its cell? The one place that decides it: services,
 * `factorize` and experiments all ask here. The later time wins, and at equal times the later event, so
 * whoever calls must ask in the order of the log.
 */

/** The last event of a cell that counted; null: a tombstone, the rating was taken back. */
export interface KnownCell {
  readonly value: number | null;
  /** ms */
  readonly time: number;
}

export type Decision =
  /** Older than what is known: nothing changes. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'new' }
  | { readonly kind: 'changed'; readonly old: number }
  /** Taken back. */
  | { readonly kind: 'removed'; readonly old: number }
  /** Taken back where no rating stood: a tombstone alone, against ratings that are older than it. */
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
