/** Whom does the console watch? Those that the settings name, else each service on this machine. */
import type { Settings } from '@freshet/config';
import type { TargetAddress } from './target.ts';

export function targetsOf(settings: Settings): TargetAddress[] {
  if (settings.CONSOLE_TARGETS.length > 0) return [...settings.CONSOLE_TARGETS];
  const ports = {
    updater: settings.UPDATER_ADMIN_PORT,
    aggregator: settings.AGGREGATOR_ADMIN_PORT,
    scorer: settings.SCORER_ADMIN_PORT,
    console: settings.CONSOLE_ADMIN_PORT,
  };
  return Object.entries(ports)
    .filter(([, port]) => port > 0)
    .map(([service, port]) => ({ service, address: `127.0.0.1:${port}` }));
}

export function scorerUrlOf(settings: Settings): string {
  const given = settings.SCORER_URL.replace(/\/+$/, '');
  return given === '' ? `http://127.0.0.1:${settings.SCORER_PORT}` : given;
}
