export {
  cacheFolder,
  childEnvironment,
  isGiven,
  searchPath,
  serviceSettings,
  settingsOrExit,
} from './environment.ts';
export { BadSettings, httpAddress, readSettings } from './read-settings.ts';
export { type SettingName, type Settings, settings } from './settings.ts';
