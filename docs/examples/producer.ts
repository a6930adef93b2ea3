/** A producer of ratings: any Kafka client will do, with any key. */
import { Kafka, Partitioners } from 'kafkajs';

export interface Rating {
  user: string;
  item: string;
  /** 0 to RATING_MAX; absent means 1, null takes the rating back. */
  value?: number | null;
  /** ms since 1970; absent means now. */
  time?: number;
}

export async function sendRatings(brokers: string[], ratings: readonly Rating[]): Promise<void> {
  const kafka = new Kafka({ clientId: 'my-shop', brokers });
  // Any partitioner will do. By user, ratings of one user come in the order in which they were
  // sent.
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  try {
    await producer.send({
      topic: 'ratings',
      messages: ratings.map((rating) => ({ key: rating.user, value: JSON.stringify(rating) })),
    });
  } finally {
    await producer.disconnect();
  }
}
