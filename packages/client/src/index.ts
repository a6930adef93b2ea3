export { type Answer, FreshetClient, type FreshetClientOptions } from './client.ts';
export { FreshetError } from './error.ts';
export type {
  ModelState,
  Operations,
  Place,
  Rating,
  Recommendation,
  ScoredItem,
} from './operations.ts';
