/** Forgets the users of earlier loads: a null record under the id of each. */
import { shardOf } from '@freshet/events';
import type { Publisher } from '@freshet/stream';
import { madeUpUser } from './crowd.ts';

interface Target {
  readonly topic: string;
  readonly partitions: number;
  readonly publisher: Pick<Publisher, 'publish'>;
}

const USERS_PER_CALL = 5_000;

export async function forgetCrowd(
  count: number,
  { topic, partitions, publisher }: Target,
): Promise<void> {
  for (let from = 0; from < count; from += USERS_PER_CALL) {
    const numbers = Array.from({ length: Math.min(USERS_PER_CALL, count - from) }, (_, at) => at);
    const records = numbers.map((at) => {
      const key = madeUpUser(from + at + 1);
      return { topic, partition: shardOf(key, partitions), key, value: null };
    });
    await publisher.publish(records);
  }
}
