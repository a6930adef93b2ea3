/** A rating as an event, and Freshet's own Avro schema for one. */
import { AvroType } from './avro.ts';

export type RatingEvent =
  | { readonly kind: 'rate'; user: string; item: string; value: number; time: number }
  | { readonly kind: 'unrate'; user: string; item: string; time: number }
  | { readonly kind: 'forget'; user: string };

/** A record of a source topic before it is decoded. */
export interface RawRating {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly timestamp: number;
}

/** The Rating schema. It has these fields, and its time is in ms, whatever the settings are. */
export interface Rating {
  user: string;
  item: string;
  value: number | null;
  time: number | null;
}

export const ratingType = new AvroType<Rating>('rating.avsc');

export function encodeRating(rating: Rating): Buffer {
  return ratingType.encode(rating);
}
