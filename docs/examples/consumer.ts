/** A consumer of recommendations: answers to requests, and pushes where PUSH=true. */
import { Kafka } from 'kafkajs';

export interface Recommendation {
  user: string;
  items: { item: string; score: number; title?: string }[];
  model: { name: string; position: number | null };
  /** null: the user's own taste; 'newcomer': somebody without ratings. */
  fallback: null | 'newcomer';
}

/** Calls `receive` for each list from now on; returns how to stop. */
export async function readRecommendations(
  brokers: string[],
  groupId: string,
  receive: (list: Recommendation, isPush: boolean) => void,
): Promise<() => Promise<void>> {
  const kafka = new Kafka({ clientId: 'my-shop', brokers });
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topics: ['recommendations'], fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      const isPush = message.headers?.['freshet-push'] !== undefined;
      receive(JSON.parse(String(message.value)), isPush);
    },
  });
  return () => consumer.disconnect();
}
