/** How many records wait for each stage? The ends of Kafka's logs less the committed positions. */
import { type Side, sides, type Topic, topicName } from '@freshet/events';
import type { FactorStore } from '@freshet/store';
import type { LogRange, TopicAdmin } from '@freshet/stream';
import { readSources, type SourcePartition } from './intake-mark.ts';

/**
 * The consumer lag of one partition: the records that its reader has not read. Records that were
 * deleted before they were read count until somebody accepts their loss. `position`: the offset
 * that is read next; null: nothing was read yet.
 */
export function unreadRecords({ start, end }: LogRange, position: number | null): number {
  return Math.max(0, end - (position ?? start));
}

/** Ratings of a source partition that will have been applied in this life when no lag is left. */
export function ratingsDue(source: SourcePartition): number {
  return source.mark.sent.count + unreadRecords(source, source.position);
}

/** For intake records of the sources, for shards records of user-ratings and item-ratings. */
export type RecordsBehind = Record<'intake' | Side, number>;

/** The topic whose partitions the shards of a side apply. */
export const sourceTopic: Record<Side, Topic> = { user: 'userRatings', item: 'itemRatings' };

interface Watched {
  readonly admin: Pick<TopicAdmin, 'ranges' | 'committed' | 'topicId' | 'exists'>;
  readonly store: Pick<FactorStore, 'head' | 'birth'>;
  readonly model: string;
  readonly sources: readonly string[];
}

export async function recordsBehind(watched: Watched): Promise<RecordsBehind> {
  const { admin, store, model, sources } = watched;
  const lag: RecordsBehind = { intake: 0, user: 0, item: 0 };
  const rebuilt = (await store.birth())?.rebuilt ?? 0;
  // In the order of the flow: what a stage sends meanwhile counts as lag of the next stage.
  for (const source of await readSources(admin, model, sources)) {
    // A rebuild reads the sources from their beginning again.
    lag.intake += unreadRecords(source, source.mark.life < rebuilt ? null : source.position);
  }
  for (const side of sides) {
    for (const [shard, range] of await admin.ranges(topicName(sourceTopic[side], model))) {
      lag[side] += unreadRecords(range, (await store.head({ side, shard })).position);
    }
  }
  return lag;
}

export function isBehind(lag: RecordsBehind): boolean {
  return lag.intake + lag.user + lag.item > 0;
}

interface LagWait extends Watched {
  readonly limitMs: number;
  /** Give up if the lag has not changed for this long: nobody consumes. */
  readonly stuckMs: number;
  readonly onLag?: (lag: RecordsBehind) => void;
  /** Aborted by somebody who no longer wants to wait. */
  readonly signal?: AbortSignal;
}

const POLL_MS = 250;

/**
 * Waits until no stage has lag at two looks in a row: in between, what a stage still had to send
 * has reached the topic of the next stage. Returns the last lag.
 */
export async function untilNoLag(wait: LagWait): Promise<RecordsBehind> {
  const deadline = Date.now() + wait.limitMs;
  let movedAt = Date.now();
  let last = await recordsBehind(wait);
  let quiet = 0;
  for (;;) {
    wait.onLag?.(last);
    quiet = isBehind(last) ? 0 : quiet + 1;
    if (quiet === 2 || Date.now() > deadline || Date.now() - movedAt > wait.stuckMs) return last;
    if (wait.signal?.aborted) return last;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const now = await recordsBehind(wait);
    if (JSON.stringify(now) !== JSON.stringify(last)) movedAt = Date.now();
    last = now;
  }
}
