/** How many records has no stage taken yet? Compares the ends of Kafka's logs with the committed positions. */
import { type Side, sides, type Topic, topicName } from '@freshet/events';
import type { FactorStore } from '@freshet/store';
import type { TopicAdmin } from '@freshet/stream';
import { readSources } from './intake-mark.ts';

/** Of the sources for intake, of user-ratings and item-ratings for the shards. */
export type RecordsBehind = Record<'intake' | Side, number>;

/** The topic whose partitions the shards of a side apply. */
export const sourceTopic: Record<Side, Topic> = { user: 'userRatings', item: 'itemRatings' };

export interface Watched {
  readonly admin: Pick<TopicAdmin, 'ranges' | 'committed' | 'topicId' | 'exists'>;
  readonly store: Pick<FactorStore, 'head' | 'birth'>;
  readonly model: string;
  /** Topics that ratings come from. */
  readonly sources: readonly string[];
}

export async function recordsBehind(watched: Watched): Promise<RecordsBehind> {
  const { admin, store, model, sources } = watched;
  const lag: RecordsBehind = { intake: 0, user: 0, item: 0 };
  const rebuilt = (await store.birth())?.rebuilt ?? 0;
  // In the order of the flow: what a stage passes on meanwhile is then seen as lag of the next.
  for (const { start, end, position, mark } of await readSources(admin, model, sources)) {
    const isRead = position !== null && mark.life >= rebuilt;
    lag.intake += end - (isRead ? Math.max(start, position) : start);
  }
  for (const side of sides) {
    for (const [shard, { start, end }] of await admin.ranges(topicName(sourceTopic[side], model))) {
      const { position } = await store.head({ side, shard });
      lag[side] += Math.max(0, end - (position ?? start));
    }
  }
  return lag;
}

export function isBehind(lag: RecordsBehind): boolean {
  return lag.intake + lag.user + lag.item > 0;
}

interface LagWait extends Watched {
  readonly limitMs: number;
  /** Give up when the lag has not moved for so long: nobody is applying. */
  readonly stuckMs: number;
  readonly onLag?: (lag: RecordsBehind) => void;
}

const POLL_MS = 250;

/**
 * Waits until no stage has lag twice in a row: between the two looks, what a stage still had to send has
 * reached the topic of the next. Returns the last lag seen.
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
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const now = await recordsBehind(wait);
    if (JSON.stringify(now) !== JSON.stringify(last)) movedAt = Date.now();
    last = now;
  }
}
