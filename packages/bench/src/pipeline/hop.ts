/** The yardstick of latencies: the time from sending a rating until a plain consumer has it. */
import { Tail } from '@freshet/stream';
import { RATINGS_TOPIC as topic } from './backlog.ts';
import type { BenchSystem } from './bench-system.ts';

/** When each record that is produced from now on has arrived, by `PARTITION:OFFSET`. */
export type Arrivals = Map<string, number>;

export async function watchArrivals(system: BenchSystem): Promise<Arrivals> {
  const { session, log } = system;
  const arrivals: Arrivals = new Map();
  const ends = await session.admin.ends(topic);
  const tail = await Tail.open(session.kafka, session.admin, {
    topic,
    model: 'hop',
    log,
    fail: (error) => {
      throw error;
    },
    startAt: async (partition) => ends.get(partition) ?? 0,
    receive: (partition, records) => {
      const now = performance.now();
      for (const { offset } of records) arrivals.set(`${partition}:${offset}`, now);
    },
  });
  system.own(tail);
  return arrivals;
}
