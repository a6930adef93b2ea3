/** Settings on a command line: `--stages users` is STAGES=users. Secrets would be visible there. */
import { BadConfig } from './read-settings.ts';
import { type SettingName, settings } from './settings.ts';

export function settingsInArguments(args: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  const problems: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const [option = '', inline] = String(args[at]).split(/=(.*)/s);
    const name = option.replace(/^--/, '').replaceAll('-', '_').toUpperCase();
    if (!option.startsWith('--') || !(name in settings)) {
      problems.push(`${option} is not an option: --help lists the options`);
    } else if ('secret' in settings[name as SettingName]) {
      problems.push(`${option} is a secret: give it as ${name} or ${name}_FILE in the environment`);
    } else {
      const value = inline ?? args[++at];
      if (value === undefined) problems.push(`${option} needs a value`);
      else found[name] = value;
    }
  }
  if (problems.length > 0) throw new BadConfig(problems);
  return found;
}

export function settingsHelp(service: string): string {
  const rows = Object.entries(settings)
    .filter(([, row]) => !('secret' in row))
    .map(([name, { fallback, about }]) => {
      const option = `--${name.toLowerCase().replaceAll('_', '-')}`;
      return `  ${option.padEnd(24)} ${about}${fallback === '' ? '' : ` (default ${fallback})`}`;
    });
  const head = 'each option can also be set in the environment: --stages as STAGES';
  return `freshet ${service}: ${head}\n\n${rows.join('\n')}\n`;
}
