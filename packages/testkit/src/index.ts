export { Command, type Variables } from './command.ts';
export { eventually } from './eventually.ts';
export { factorStoreContract } from './factor-store-contract.ts';
export { consumerEvents, HandConsumer } from './hand-consumer.ts';
export { pass, startReader, useFakeTime } from './hand-reader.ts';
export { MemoryLog } from './memory-log.ts';
export { RatingStream } from './rating-stream.ts';
export { type StoreSnapshot, snapshot, violationsOf } from './store-snapshot.ts';
export { type Recommended, System } from './system.ts';
