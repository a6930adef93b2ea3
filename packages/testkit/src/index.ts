export { eventually } from './eventually.ts';
export { type Recommended, System } from './system.ts';
