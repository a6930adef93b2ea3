/** Is anybody working in a consumer group right now? Kafka knows, for members tell it that they live. */
import type { Kafka } from 'kafkajs';

export async function groupMembers(
  kafka: Kafka,
  groupIds: readonly string[],
): Promise<Map<string, number>> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const { groups } = await admin.describeGroups([...groupIds]);
    return new Map(groups.map(({ groupId, members }) => [groupId, members.length]));
  } finally {
    await admin.disconnect();
  }
}
