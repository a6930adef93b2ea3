/** The only file that reads process.env: for settings, and for what a child process inherits. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { settingsHelp, settingsInArguments } from './arguments.ts';
import { BadConfig, readSettings } from './read-settings.ts';
import { type SettingName, type Settings, settings } from './settings.ts';

/** Settings of this process. If some are bad, prints every problem to stderr and exits with 2. */
export function settingsOrExit(overrides: Readonly<Record<string, string>> = {}): Settings {
  return orExit(() => readSettings({ ...process.env, ...overrides }));
}

function orExit(read: () => Settings): Settings {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof BadConfig)) throw error;
    for (const problem of error.problems) process.stderr.write(`freshet: ${problem}\n`);
    process.exit(2);
  }
}

/** Settings of a service; its command line overrides its environment. Exits on --help. */
export function serviceSettings(service: string): Settings {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    process.stdout.write(settingsHelp(service));
    process.exit(0);
  }
  return orExit(() => readSettings({ ...process.env, ...settingsInArguments(args) }));
}

/** True if this setting is given in the environment, so that a default must not replace it. */
export function isGiven(name: SettingName): boolean {
  const row = settings[name];
  const names = 'alias' in row ? [name, row.alias] : [name];
  return names.some((each) => process.env[each] || process.env[`${each}_FILE`]);
}

export function childEnvironment(
  overrides: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  return { ...process.env, ...overrides };
}

/** The folder of downloads and of the state of `npm start` between runs. */
export function cacheFolder(): string {
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(base, 'freshet');
}

/** PATH: the folders in which programs are looked for; empty if it is not set. */
export function searchPath(): string {
  return process.env.PATH ?? '';
}
