/**
 * Where to read on after a take-over, or why nobody may: a log that no longer holds what the store
 * needs next, or that was recreated. Only a person can decide what to do then; jumping would lose
 * ratings without a word.
 */
import { topicName } from '@freshet/events';
import type { ShardState } from '@freshet/store';
import type { TopicAdmin } from '@freshet/stream';

export class LogGap extends Error {
  override readonly name = 'LogGap';
}

export interface LogPlace {
  readonly source: string;
  readonly partition: number;
  readonly state: ShardState;
  readonly model: string;
  readonly admin: Pick<TopicAdmin, 'starts' | 'ends'>;
}

const WHAT_TO_DO = 'restore it, or choose another MODEL to learn afresh';

export async function firstOffset(place: LogPlace): Promise<number> {
  const { source, partition, state, model, admin } = place;
  const start = (await admin.starts(source)).get(partition) ?? 0;
  if (state.position === null) return start;
  const end = (await admin.ends(source)).get(partition) ?? 0;
  if (state.position < start || state.position > end) {
    throw new LogGap(
      `${source}/${partition} holds ${start} to ${end} but the store is at ${state.position}: the log was cut or recreated; ${WHAT_TO_DO}`,
    );
  }
  const ratings = topicName('ratings', model);
  const ends = await admin.ends(ratings);
  for (const [name, mark] of Object.entries(state.facts)) {
    const from = /^(?:source|forwarded):(\d+)$/.exec(name)?.[1];
    if (from === undefined) continue;
    const applied = Number(mark.split(':')[0]);
    const held = ends.get(Number(from)) ?? 0;
    if (applied >= held) {
      throw new LogGap(
        `${ratings}/${from} ends at ${held} but the store applied ${applied} of it: the topic was recreated; ${WHAT_TO_DO}`,
      );
    }
  }
  return state.position;
}
