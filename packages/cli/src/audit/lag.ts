/** How many records are produced and not yet applied, on either side? Kafka's ends against the store. */
import { type Side, sides, type Topic, topicName } from '@freshet/events';
import type { FactorStore } from '@freshet/store';
import type { TopicAdmin } from '@freshet/stream';

export type Lag = Record<Side, number>;

/** The topic whose partitions the shards of a side apply. */
export const sourceTopic: Record<Side, Topic> = { user: 'ratings', item: 'itemRatings' };

export interface Watched {
  readonly admin: Pick<TopicAdmin, 'starts' | 'ends'>;
  readonly store: Pick<FactorStore, 'inspect'>;
  readonly model: string;
}

export async function lagOf({ admin, store, model }: Watched): Promise<Lag> {
  const lag: Lag = { user: 0, item: 0 };
  for (const side of sides) {
    const topic = topicName(sourceTopic[side], model);
    const starts = await admin.starts(topic);
    for (const [shard, end] of await admin.ends(topic)) {
      const { position } = await store.inspect({ side, shard });
      lag[side] += Math.max(0, end - (position ?? starts.get(shard) ?? 0));
    }
  }
  return lag;
}

export interface LagWait extends Watched {
  readonly limitMs: number;
  /** Give up when the lag has not moved for so long: nobody is applying. */
  readonly stuckMs: number;
  readonly onLag?: (lag: Lag) => void;
}

const POLL_MS = 250;

/**
 * Waits until both sides have no lag twice in a row: between the two looks, what the user side still
 * had to forward has reached the item side's topic. Returns the last lag seen.
 */
export async function untilNoLag(wait: LagWait): Promise<Lag> {
  const deadline = Date.now() + wait.limitMs;
  let movedAt = Date.now();
  let last = await lagOf(wait);
  let quiet = 0;
  for (;;) {
    wait.onLag?.(last);
    quiet = last.user + last.item === 0 ? quiet + 1 : 0;
    if (quiet === 2 || Date.now() > deadline || Date.now() - movedAt > wait.stuckMs) return last;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const now = await lagOf(wait);
    if (now.user !== last.user || now.item !== last.item) movedAt = Date.now();
    last = now;
  }
}
