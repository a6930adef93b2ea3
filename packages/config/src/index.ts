export {
  cacheFolder,
  childEnvironment,
  isGiven,
  searchPath,
  serviceSettings,
  settingsOrExit,
} from './environment.ts';
export { kafkaSecurity } from './kafka-security.ts';
export { asksForLoopback } from './loopback.ts';
export {
  adminAddress,
  BadConfig,
  httpAddress,
  readSettings,
  type ScorerAddress,
  scorerAddress,
} from './read-settings.ts';
export { matcher } from './readers.ts';
export { redisServers } from './redis-settings.ts';
export { type Settings, settings } from './settings.ts';
