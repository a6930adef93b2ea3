/** Waits until every rating that was sent is applied on both sides, and shows how many are not. */
import { isBehind, type RecordsBehind, untilNoLag } from '@freshet/positions';
import type { Brokers } from '@freshet/session';
import { CannotWork, openStore, type Place } from '../operator-command.ts';
import { ProgressLine } from '../progress-line.ts';

/** Longer than an updater takes to take its shards over: after that, none is running. */
const STUCK_MS = 60_000;

export async function waitUntilApplied(
  place: Place,
  { admin }: Brokers,
  { quiet, signal }: { readonly quiet: boolean; readonly signal?: AbortSignal },
): Promise<void> {
  const began = performance.now();
  const line = new ProgressLine(quiet);
  const left = await untilNoLag({
    admin,
    store: await openStore(place),
    model: place.model,
    sources: place.settings.RATINGS_TOPICS,
    limitMs: Number.POSITIVE_INFINITY,
    stuckMs: STUCK_MS,
    onLag: (lag) => line.show(waitingOf(lag), undefined),
    ...(signal ? { signal } : {}),
  });
  line.clear();
  signal?.throwIfAborted();
  if (isBehind(left)) {
    throw new CannotWork(
      `${waitingOf(left)}, and none was applied for ${STUCK_MS / 1_000} s: check that an updater is running`,
    );
  }
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  process.stdout.write(`applied on both sides after ${seconds} s\n`);
}

function waitingOf({ intake, user, item }: RecordsBehind): string {
  return `${intake} records wait for intake, ${user} batches for the user shards, ${item} for the item shards`;
}
