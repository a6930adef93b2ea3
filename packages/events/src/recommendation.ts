/** The request and the answer of the recommendation topics: JSON, so that any client reads them. */
import { idOf } from './entity-id.ts';
import { PoisonRecord } from './poison-record.ts';

export interface RecommendationRequest {
  readonly user: string;
  readonly n: number;
  /** Which model is asked; absent: every model that listens. */
  readonly model?: string;
}

export interface ScoredItem {
  readonly item: string;
  readonly score: number;
}

export interface Recommendation {
  readonly user: string;
  readonly items: readonly ScoredItem[];
  readonly model: { readonly name: string; readonly position: number | null };
  /** Why the answer is not the user's own: `mean` for somebody without ratings. */
  readonly fallback: null | 'mean';
}

const DEFAULT_COUNT = 10;
export const recommendationCountLimit = 1000;

export function decodeRecommendationRequest(bytes: Buffer | null): RecommendationRequest {
  let fields: Record<string, unknown>;
  try {
    fields = Object(JSON.parse(String(bytes ?? '')));
  } catch (error) {
    throw new PoisonRecord('not-json', 'not a JSON object', error);
  }
  const { n = DEFAULT_COUNT, model } = fields;
  const user = idOf('user', fields.user);
  const count = Number.isInteger(n) ? (n as number) : 0;
  if (count < 1 || count > recommendationCountLimit) {
    throw new PoisonRecord('bad-value', `n must be from 1 to ${recommendationCountLimit}`);
  }
  return { user, n: count, ...(typeof model === 'string' ? { model } : {}) };
}

export function encodeRecommendation(recommendation: Recommendation): Buffer {
  return Buffer.from(JSON.stringify(recommendation));
}
