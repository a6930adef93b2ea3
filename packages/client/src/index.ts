export {
  type Answer,
  FreshetClient,
  type FreshetClientOptions,
  type Place,
  type Rating,
} from './client.ts';
export { FreshetError } from './error.ts';
export type { Operations } from './operations.ts';
