export { KafkaUnreachable, openKafka } from './client.ts';
export { CUT_HEADER, deadLetter, printable } from './dead-letter.ts';
export { isUnreadable, unreadableText } from './fetch-decoding.ts';
export type { ReaderOptions } from './group-consumer.ts';
export { type HttpAnswer, httpRequest } from './http-request.ts';
export { InternalEvents, internalRecord, tracesIn } from './internal-record.ts';
export { LogFault, type LogFaultKind, type LogPlace } from './log-fault.ts';
export { type LogRecord, recordBytes, textHeader } from './log-record.ts';
export { decodeOutbox, encodeOutbox } from './outbox-codec.ts';
export type { PartitionOwner } from './owned-partition.ts';
export { PartitionReader } from './partition-reader.ts';
export { type OutRecord, Publisher } from './publisher.ts';
export { readTopic } from './read-topic.ts';
export { Refused } from './refusal.ts';
export { Tail } from './tail.ts';
export {
  type CommittedOffset,
  type LogRange,
  type PlannedTopic,
  plannedTopics,
  TopicAdmin,
  type TopicPlan,
  UnusableTopics,
} from './topic-admin.ts';
