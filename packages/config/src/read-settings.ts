/**
 * The one place that turns an environment into settings: all problems are found before any is
 * reported, each by the name of its setting.
 */
import { readFileSync } from 'node:fs';
import { asksForLoopback, isLoopback } from './loopback.ts';
import { BadValue } from './readers.ts';
import { type SettingName, type Settings, settings } from './settings.ts';

type AdminPortName = Extract<SettingName, `${string}_ADMIN_PORT`>;
type HttpPortName = Exclude<Extract<SettingName, `${string}_PORT`>, AdminPortName>;

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

/** Where an HTTP server listens, with the settings to change if it cannot. */
export function httpAddress(chosen: Settings, setting: HttpPortName) {
  return { host: httpHost(chosen), port: chosen[setting], setting, hostSetting: 'HTTP_HOST' };
}

/**
 * Where an admin server listens, and which requests it answers. Admin ports ask for no token, so they stay
 * on loopback whatever HTTP_HOST and HTTP_TOKEN say, and there they answer only to names of loopback. Who
 * sets ADMIN_HOST beyond loopback wants other machines to ask, by whatever name they have for this one.
 */
export function adminAddress(chosen: Settings, setting: AdminPortName) {
  const host = chosen.ADMIN_HOST;
  const answersTo = isLoopback(host) ? asksForLoopback : () => true;
  return { host, port: chosen[setting], setting, hostSetting: 'ADMIN_HOST', answersTo };
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
  for (const [kind, value] of chosen.RATING_KINDS) {
    if (value === null || value <= chosen.RATING_MAX) continue;
    problems.push(
      `RATING_KINDS has ${kind}:${value} and RATING_MAX is ${chosen.RATING_MAX}: lower the one or raise the other`,
    );
  }
  return problems;
}
