export { eventually } from './eventually.ts';
export { type StoreSnapshot, snapshot } from './store-snapshot.ts';
export { type Recommended, System } from './system.ts';
