/** Ratings at a steady pace, which everything else happens beside: as many every tick as are due. */
import { setTimeout as pause } from 'node:timers/promises';
import { topicName } from '@freshet/events';
import type { GeneratedRating } from '@freshet/experiments';
import { Publisher } from '@freshet/stream';
import { recordOf } from './backlog.ts';
import type { BenchSystem } from './bench-system.ts';

const TICK_MS = 10;

export async function steadyStream(
  { session, settings }: BenchSystem,
  ratings: Iterator<GeneratedRating>,
  ratePerSecond: number,
  stopped: AbortSignal,
): Promise<void> {
  const topic = topicName('ratings', session.model);
  const publisher = await Publisher.open(session.kafka);
  const began = performance.now();
  for (let sent = 0; !stopped.aborted; ) {
    const records = [];
    const due = ((performance.now() - began) / 1_000) * ratePerSecond;
    for (; sent < due; sent++) {
      const next = ratings.next();
      if (!next.done) records.push(recordOf(next.value, topic, settings.SHARDS));
    }
    await publisher.publish(records);
    await pause(TICK_MS);
  }
  await publisher.close();
}
