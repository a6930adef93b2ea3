export { type KafkaOptions, KafkaUnreachable, openKafka } from './client.ts';
export { clientPositions, type Followed } from './client-positions.ts';
export { groupMembers } from './group-members.ts';
export { missingTopics } from './missing-topics.ts';
export { decodeOutbox, encodeOutbox } from './outbox-codec.ts';
export {
  type LogRecord,
  type PartitionOwner,
  PartitionReader,
  type ReaderOptions,
} from './partition-reader.ts';
export { type OutRecord, Publisher } from './publisher.ts';
export { readTopic, type TopicReading } from './read-topic.ts';
export { Tail, type TailOptions } from './tail.ts';
export { PartitionMismatch, TopicAdmin, type TopicPlan } from './topic-admin.ts';
