/** Transactions: committed ratings count, aborted ones do not, and markers alone are no lag. */
import { type Topic, topicName, topics } from '@freshet/events';
import { expect } from 'vitest';
import { MODEL, SHARDS } from './honest-ratings.ts';
import type { Kind } from './stage.ts';

/** Every partition of every topic of the system. */
export const everyPartition = (Object.keys(topics) as Topic[]).flatMap((topic) => {
  const count = topics[topic].partitions === 'single' ? 1 : SHARDS;
  const name = topicName(topic, MODEL);
  return Array.from({ length: count }, (_, partition) => ({ topic: name, partition }));
});

const ended: Kind = {
  name: 'a committed transaction counts, an aborted one does not',
  play: async ({ kafka, honest }) => {
    const producer = kafka.producer({
      transactionalId: 'hostile',
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
    });
    await producer.connect();
    for (const ending of ['commit', 'abort', 'abort', 'commit'] as const) {
      const transaction = await producer.transaction();
      for (let at = 0; at < 20; at++) {
        const user = `${ending}s-${at}`;
        const { partition = 0 } = honest.record({ user, item: 'i9', value: 3 });
        const value = JSON.stringify({ user, item: 'i9', value: 3 });
        if (ending === 'abort') honest.forget(user);
        await transaction.send({ topic: 'ratings', messages: [{ partition, key: user, value }] });
      }
      const junk = [{ key: 'i1', value: 'junk' }];
      await transaction.send({ topic: 'items', messages: junk });
      await transaction.send({ topic: 'default.gram-parts', messages: junk });
      await transaction[ending]();
    }
    await producer.disconnect();
  },
};

const markers: Kind = {
  name: 'markers alone, on every partition of every topic, are no lag',
  play: async (stage) => {
    // These come first, with no records after them that would move a reader on.
    await stage.noLag();
    await stage.raw.markersAlone('markers', everyPartition);
    await stage.noLag();
    const { code, said } = await stage.freshet('audit', '--wait', '10');
    expect(said).not.toContain('not settled');
    expect(code, said).toBe(0);
  },
};

export const transactionKinds: readonly Kind[] = [ended, markers];
