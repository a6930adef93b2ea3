/** The only reader of process.env: settings for a service, and what a child process inherits. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { settingsHelp, settingsInArguments } from './arguments.ts';
import { BadSettings, readSettings } from './read-settings.ts';
import type { Settings } from './settings.ts';

/** Settings of this process; on bad ones, says every problem on stderr and exits with 2. */
export function settingsOrExit(overrides: Readonly<Record<string, string>> = {}): Settings {
  return orExit(() => readSettings({ ...process.env, ...overrides }));
}

function orExit(read: () => Settings): Settings {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof BadSettings)) throw error;
    for (const problem of error.problems) process.stderr.write(`freshet: ${problem}\n`);
    process.exit(2);
  }
}

/** Settings of a service, from its command line and then its environment; --help prints and exits. */
export function serviceSettings(service: string): Settings {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    process.stdout.write(settingsHelp(service));
    process.exit(0);
  }
  return orExit(() => readSettings({ ...process.env, ...settingsInArguments(args) }));
}

/** True when the user named this setting, so that a default must not take its place. */
export function isGiven(name: string): boolean {
  return (process.env[name] ?? '') !== '' || (process.env[`${name}_FILE`] ?? '') !== '';
}

/** This process's environment with some settings replaced, for a child process. */
export function childEnvironment(
  overrides: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  return { ...process.env, ...overrides };
}

/** Where downloads and the state of `npm start` are kept between runs. */
export function cacheFolder(): string {
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(base, 'freshet');
}

/** The folders in which programs are looked for. */
export function searchPath(): string {
  return process.env.PATH ?? '';
}
