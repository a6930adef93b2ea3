export { avroSchemas } from './avro.ts';
export {
  type CheckedItemRatings,
  type CheckedUserRatings,
  type ModelShape,
  readFactorBatch,
  readGramPart,
  readGrams,
  readItemRatings,
  readUserRatings,
} from './checked-events.ts';
export { idBytesLimit, idOf } from './entity-id.ts';
export {
  type FactorBatch,
  factorBatchCodec,
  type GramPart,
  type GramsEvent,
  gramPartCodec,
  gramsCodec,
  isNewer,
  type PartVersion,
  type Side,
  sides,
  type Version,
} from './internal-events.ts';
export { decodeItemMetadata, type ItemMetadata } from './item-metadata.ts';
export {
  type ItemRating,
  ItemRatingPack,
  itemRatingsCodec,
  type PackedRating,
  packedRatings,
} from './item-ratings.ts';
export { bytesOf, float32s, float64s } from './packing.ts';
export {
  asPoison,
  type PoisonReason,
  PoisonRecord,
  poisonReasons,
  shownText,
  shownValue,
} from './poison-record.ts';
export { encodeRating, type RatingEvent, type RawRating } from './rating-event.ts';
export { type DecodedRecord, RatingField, type RatingFields } from './rating-fields.ts';
export { RatingReader, type RatingRules, ratingRules } from './rating-reader.ts';
export { timeIn } from './rating-time.ts';
export { type RatingKinds, valueOfKind } from './rating-value.ts';
export {
  decodeRecommendationRequest,
  encodeRecommendation,
  type Fallback,
  type ModelState,
  type Recommendation,
  type RecommendationRequest,
  recommendationCountLimit,
  type ScoredItem,
} from './recommendation.ts';
export { type RegisteredSchema, registeredSchema } from './registered-schema.ts';
export { murmur2, shardOf } from './shard-of.ts';
export { type Topic, type TopicRow, topicConfig, topicName, topics } from './topics.ts';
export { TRACEPARENT, traceField, traceHeader, traceparentOf } from './trace-context.ts';
export { type PackedUserRating, UserRatingPack, userRatingsCodec } from './user-ratings.ts';
