/**
 * The one place that turns an environment into settings: all problems are found before any is
 * reported, each by the name of its setting.
 */
import { readFileSync } from 'node:fs';
import { BadValue } from './readers.ts';
import { type SettingName, type Settings, settings } from './settings.ts';

type PortName = Extract<SettingName, `${string}_PORT`>;

export type Environment = Readonly<Record<string, string | undefined>>;

export class BadSettings extends Error {
  override readonly name = 'BadSettings';
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

export function readSettings(environment: Environment): Settings {
  const problems: string[] = [];
  const values: Partial<Record<SettingName, unknown>> = {};
  for (const name of Object.keys(settings) as SettingName[]) {
    try {
      values[name] = settings[name].read(given(name, environment) ?? settings[name].fallback);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      problems.push(`${name} ${error.message}`);
    }
  }
  const complete = values as Settings;
  if (problems.length === 0) problems.push(...conflicts(complete));
  if (problems.length > 0) throw new BadSettings(problems);
  return Object.freeze(complete);
}

/** The address HTTP servers bind to: beyond loopback only behind a token. */
export function httpHost(chosen: Settings): string {
  if (chosen.HTTP_HOST !== '') return chosen.HTTP_HOST;
  return chosen.HTTP_TOKEN === '' ? '127.0.0.1' : '0.0.0.0';
}

/** Where an HTTP server listens, with the setting to change if it cannot. */
export function httpAddress(
  chosen: Settings,
  setting: PortName,
): { host: string; port: number; setting: PortName } {
  return { host: httpHost(chosen), port: chosen[setting], setting };
}

function given(name: SettingName, environment: Environment): string | undefined {
  const value = environment[name];
  if (!('secret' in settings[name])) return value;
  const path = environment[`${name}_FILE`];
  if (path === undefined || path === '') return value;
  if (value !== undefined) throw new BadValue(`and ${name}_FILE are both set: keep one`);
  try {
    return readFileSync(path, 'utf8').trimEnd();
  } catch (error) {
    throw new BadValue(`cannot be read from ${name}_FILE: ${(error as Error).message}`);
  }
}

function conflicts(chosen: Settings): string[] {
  const problems: string[] = [];
  if (chosen.HTTP_TOKEN === '' && !isLoopback(httpHost(chosen))) {
    problems.push(
      `HTTP_HOST is ${chosen.HTTP_HOST}, beyond loopback: set HTTP_TOKEN (or HTTP_TOKEN_FILE) too`,
    );
  }
  if (chosen.KAFKA_USERNAME !== '' && chosen.KAFKA_PASSWORD === '') {
    problems.push('KAFKA_PASSWORD must be set when KAFKA_USERNAME is');
  }
  return problems;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
