export { type KafkaOptions, KafkaUnreachable, openKafka } from './client.ts';
export { clientPositions, type Followed } from './client-positions.ts';
export { deadLetter } from './dead-letter.ts';
export { groupMembers } from './group-members.ts';
export type { LogRecord } from './log-record.ts';
export { missingTopics } from './missing-topics.ts';
export { decodeOutbox, encodeOutbox } from './outbox-codec.ts';
export {
  type PartitionOwner,
  PartitionReader,
  type ReaderOptions,
} from './partition-reader.ts';
export { printable } from './printable.ts';
export { type OutRecord, Publisher } from './publisher.ts';
export { readTopic, type TopicReading } from './read-topic.ts';
export { STRAY_HEADER, strayHeader, straySource } from './stray.ts';
export { Tail, type TailOptions } from './tail.ts';
export { PartitionMismatch, TopicAdmin, type TopicPlan } from './topic-admin.ts';
