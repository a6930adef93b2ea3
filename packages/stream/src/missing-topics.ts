/** Which of these topics does the cluster not have? Asked at once, where a read would retry for long. */
import type { Kafka } from 'kafkajs';

export async function missingTopics(kafka: Kafka, names: readonly string[]): Promise<string[]> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const existing = new Set(await admin.listTopics());
    return names.filter((name) => !existing.has(name));
  } finally {
    await admin.disconnect();
  }
}
