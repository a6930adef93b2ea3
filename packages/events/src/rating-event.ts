/** What a rating says once it is understood, and Freshet's own way of writing one. */
import { AvroType, splitSingleObject } from './avro.ts';

export type RatingEvent =
  | { readonly kind: 'rate'; user: string; item: string; value: number; time: number }
  | { readonly kind: 'unrate'; user: string; item: string; time: number }
  | { readonly kind: 'forget'; user: string };

/** A record as it lies on the log, before anything is known of its content. */
export interface RawRating {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly timestamp: number;
}

/** The Rating schema. Its fields are always these, and its time is in ms, whatever the settings say. */
export interface Rating {
  user: string;
  item: string;
  value: number | null;
  time: number | null;
}

export const ratingType = new AvroType<Rating>('rating.avsc');

export const CONFLUENT_MAGIC = 0;
export const CONFLUENT_HEADER_BYTES = 5;

export function encodeRating(rating: Rating): Buffer {
  return ratingType.encode(rating);
}

/** The same with the header that Confluent's serializers write: magic 0 and the registry's id. */
export function encodeRatingWithId(rating: Rating, schemaId: number): Buffer {
  const header = Buffer.alloc(CONFLUENT_HEADER_BYTES, CONFLUENT_MAGIC);
  header.writeInt32BE(schemaId, 1);
  return Buffer.concat([header, splitSingleObject(ratingType.encode(rating)).body]);
}
