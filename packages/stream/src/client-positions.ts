/**
 * Where has a process come that follows a topic in a group of its own? Such groups have random names;
 * they are found by their prefix and by the client in them.
 */
import type { Kafka } from 'kafkajs';

interface Followed {
  /** How the names of the groups begin. */
  readonly prefix: string;
  readonly clientId: string;
  readonly topic: string;
}

/** Positions last committed, by partition; of several such processes the one furthest behind. */
export async function clientPositions(
  kafka: Kafka,
  { prefix, clientId, topic }: Followed,
): Promise<Map<number, number>> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const all = (await admin.listGroups()).groups.map(({ groupId }) => groupId);
    const named = all.filter((groupId) => groupId.startsWith(prefix));
    const { groups } = await admin.describeGroups(named);
    const theirs = groups.filter(({ members }) => members.some((at) => at.clientId === clientId));
    const positions = new Map<number, number>();
    for (const { groupId } of theirs) {
      const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
      for (const { partition, offset } of found?.partitions ?? []) {
        const position = Number(offset);
        if (position < 0) continue;
        positions.set(partition, Math.min(position, positions.get(partition) ?? position));
      }
    }
    return positions;
  } finally {
    await admin.disconnect();
  }
}
