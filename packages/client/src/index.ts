export { type Answer, FreshetClient, type FreshetClientOptions } from './client.ts';
export { FreshetError } from './error.ts';
export type {
  Lag,
  ModelState,
  Operations,
  Place,
  Rating,
  Recommendation,
  ScoredItem,
} from './operations.ts';
