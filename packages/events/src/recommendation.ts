/** Requests for recommendations, and answers, which have the format of their request. */
import { isUtf8 } from 'node:buffer';
import { AvroType, isSingleObject } from './avro.ts';
import { idOf } from './entity-id.ts';
import { readJsonObject } from './json-object.ts';
import { PoisonRecord } from './poison-record.ts';

export interface RecommendationRequest {
  readonly user: string;
  readonly n: number;
  /** The model that is asked; absent: every model that reads the topic. */
  readonly model?: string;
  /** The format of the request, in which it is answered. */
  readonly format: 'json' | 'avro';
}

export interface ScoredItem {
  readonly item: string;
  readonly score: number;
  /** Title and categories come from the items topic. */
  readonly title?: string;
  readonly categories?: readonly string[];
}

/** The state of the model from which an answer was computed. */
export interface ModelState {
  readonly name: string;
  /** Offset in user-ratings, after the last rating of the user's shard in the answer. */
  readonly position: number | null;
  /** The last commit of that shard that the answer includes. */
  readonly sequence?: number | null;
  /** What had been produced to that shard and was not applied yet. */
  readonly lag?: { readonly ratings: number; readonly ms: number } | null;
}

/** `newcomer`: nothing is known of the user, who gets what newcomers take and what is popular. */
export type Fallback = null | 'newcomer';

export interface Recommendation {
  readonly user: string;
  readonly items: readonly ScoredItem[];
  readonly model: ModelState;
  readonly fallback: Fallback;
}

const DEFAULT_COUNT = 10;
export const recommendationCountLimit = 1000;

const requestType = new AvroType<Record<string, unknown>>('recommendation-request.avsc');
const recommendationType = new AvroType<Recommendation>('recommendation.avsc');

export function decodeRecommendationRequest(bytes: Buffer | null): RecommendationRequest {
  const format = bytes !== null && isSingleObject(bytes) ? 'avro' : 'json';
  const fields = readFields(bytes ?? Buffer.alloc(0), format);
  const { n = DEFAULT_COUNT, model } = fields;
  const user = idOf('user', fields.user);
  const count = Number.isInteger(n) ? (n as number) : 0;
  if (count < 1 || count > recommendationCountLimit) {
    throw new PoisonRecord('bad-value', `n must be from 1 to ${recommendationCountLimit}`);
  }
  return { user, n: count, format, ...(typeof model === 'string' ? { model } : {}) };
}

export function encodeRecommendation(
  recommendation: Recommendation,
  format: RecommendationRequest['format'],
): Buffer {
  if (format === 'avro') return recommendationType.encode(recommendation);
  return Buffer.from(JSON.stringify(recommendation));
}

function readFields(bytes: Buffer, format: 'json' | 'avro'): Readonly<Record<string, unknown>> {
  if (format === 'json') {
    // Else they would be decoded as U+FFFD, and different users would become the same.
    if (!isUtf8(bytes)) throw new PoisonRecord('not-json', 'not UTF-8 text');
    return readJsonObject(bytes, 'not a request in json');
  }
  try {
    return requestType.decode(bytes);
  } catch (error) {
    throw new PoisonRecord('not-avro', 'not a request in avro', error);
  }
}
