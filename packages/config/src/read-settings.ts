/** Turns an environment into settings. All problems are reported together, by setting. */
import { readFileSync } from 'node:fs';
import { securityConflicts } from './kafka-security.ts';
import { asksForLoopback, isLoopback } from './loopback.ts';
import { BadValue } from './readers.ts';
import { redisConflicts } from './redis-settings.ts';
import { registryConflicts } from './registry-settings.ts';
import { type SettingName, type Settings, settings } from './settings.ts';

type AdminPortName = Extract<SettingName, `${string}_ADMIN_PORT`>;
type HttpPortName = Exclude<Extract<SettingName, `${string}_PORT`>, AdminPortName>;

type Environment = Readonly<Record<string, string | undefined>>;

export class BadConfig extends Error {
  override readonly name = 'BadConfig';
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
  if (problems.length > 0) throw new BadConfig(problems);
  return Object.freeze(complete);
}

/** The address that HTTP servers bind to: beyond loopback only with a token. */
function httpHost(chosen: Settings): string {
  if (chosen.HTTP_HOST !== '') return chosen.HTTP_HOST;
  return chosen.HTTP_TOKEN === '' ? '127.0.0.1' : '0.0.0.0';
}

/** Where an HTTP server listens, and the names of the settings to change if it cannot. */
export function httpAddress(chosen: Settings, setting: HttpPortName) {
  return { host: httpHost(chosen), port: chosen[setting], setting, hostSetting: 'HTTP_HOST' };
}

export type ScorerAddress = ReturnType<typeof scorerAddress>;

/** Where a scorer answers, by SCORER_URL or on this machine. With an empty token none is needed. */
export function scorerAddress({ SCORER_URL, SCORER_PORT, HTTP_TOKEN: token }: Settings) {
  const url = SCORER_URL === '' ? `http://127.0.0.1:${SCORER_PORT}` : SCORER_URL;
  return { url: url.replace(/\/+$/, ''), token };
}

/**
 * Where an admin server listens, and which requests it answers. Admin ports need no token, so they
 * bind to loopback whatever HTTP_HOST and HTTP_TOKEN are, and there they answer only requests whose
 * Host header names loopback. With ADMIN_HOST beyond loopback they answer any Host.
 */
export function adminAddress(chosen: Settings, setting: AdminPortName) {
  const host = chosen.ADMIN_HOST;
  const answersTo = isLoopback(host) ? asksForLoopback : () => true;
  return { host, port: chosen[setting], setting, hostSetting: 'ADMIN_HOST', answersTo };
}

/** By the name of the setting, or else by its alias. */
function given(name: SettingName, environment: Environment): string | undefined {
  const row = settings[name];
  const own = givenAs(name, name, environment);
  return own === undefined && 'alias' in row ? givenAs(row.alias, name, environment) : own;
}

function givenAs(name: string, setting: SettingName, environment: Environment): string | undefined {
  const value = environment[name];
  if (!('secret' in settings[setting])) return value;
  const path = environment[`${name}_FILE`];
  if (path === undefined || path === '') return value;
  if (value !== undefined) throw new BadValue(`and ${name}_FILE are both set: remove one of them`);
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
      `HTTP_HOST is ${chosen.HTTP_HOST}, beyond loopback, where a token is needed: set HTTP_TOKEN or HTTP_TOKEN_FILE`,
    );
  }
  problems.push(
    ...securityConflicts(chosen),
    ...redisConflicts(chosen),
    ...registryConflicts(chosen),
  );
  for (const [kind, value] of chosen.RATING_KINDS) {
    if (value === null || value <= chosen.RATING_MAX) continue;
    problems.push(
      `RATING_KINDS has ${kind}:${value} and RATING_MAX is ${chosen.RATING_MAX}: lower the value or raise RATING_MAX`,
    );
  }
  return problems;
}
