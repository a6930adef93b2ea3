/** Do the commands exist that the documents give and no test runs? */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { find, read } from './tree.ts';

const main = fileURLToPath(new URL('../../packages/cli/dist/main.js', import.meta.url));
const scripts = Object.keys(JSON.parse(read('package.json')).scripts);

/** Whether a command names a script, a command or bench of it, and options, that there are. */
export function isKnownCommand(command: string): boolean {
  // npm may run a script on another Node, or into a file; npx may run the packed command line.
  const own = command
    .replace(/^(npm run \w+) --silent/, '$1')
    .replace(/ > \S+$/, '')
    .replace(/^npx -y -p node@\d+ (?=npm )/, '')
    .replace(/^npx --yes --package \S+\.tgz freshet /, 'npm run freshet -- ');
  const words = own.split(/\s+/).filter((word) => !/^[A-Z_]+=/.test(word));
  const [program = '', rest = ''] = words.join(' ').split(' -- ');
  const [name = '', ...given] = rest.split(' ');
  const options = given.filter(isOption);
  if (program === 'npm run freshet') return hasOptions(helpOf(name), options);
  if (program === 'npm start') return hasOptions(helpOf('up'), [name, ...options].filter(isOption));
  if (program === 'npm run bench') return hasBench(name) && hasOptions(benches(), options);
  const [, project] = /^npx vitest run --project (\w+)$/.exec(program) ?? [];
  if (project !== undefined) return read('vitest.config.ts').includes(`'${project}'`);
  return scripts.some((script) => [`npm ${script}`, `npm run ${script}`].includes(program));
}

const ownNames = [...read('packages/cli/src/main.ts').matchAll(/^ {2}'?([a-z-]+)'?: async/gm)]
  .map(([, name = '']) => name)
  .filter((name) => name !== '');

/** Whether code in a sentence, as `audit --deep`, is of something else, or names what there is. */
export function mayBeCommand(code: string): boolean {
  const own = /^(?:npm run freshet (?:--silent )?-- |freshet )?([a-z-]+)(.*)$/s.exec(code);
  const [, name = '', rest = ''] = own ?? [];
  if (!ownNames.includes(name) || !rest.includes('--')) return true;
  return isKnownCommand(`npm run freshet -- ${name} ${rest.replace(/\s+/g, ' ').trim()}`);
}

const isOption = (word: string): boolean => word.startsWith('--');

/** Every command has --help, which not every help names. */
const hasOptions = (text: string, options: readonly string[]): boolean =>
  text !== '' && options.every((option) => option === '--help' || text.includes(option));

const helps = new Map<string, string>();

/** What a command of the command line says of itself; nothing if there is no such command. */
export function helpOf(name: string): string {
  const known = helps.get(name);
  if (known !== undefined) return known;
  const args = name === '--help' ? [main, name] : [main, name, '--help'];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  helps.set(name, status === 0 ? stdout : '');
  return helpOf(name);
}

/** Benches have no help: their options stand in the sources. */
const benches = (): string =>
  find(/^packages\/bench\/src\/.*\.ts$/)
    .map(read)
    .join('\n')
    .replace(/(\w+): \{ type: '(string|boolean)'/g, '--$1');

function hasBench(name: string): boolean {
  const [table = ''] = /const benches[\s\S]*?\n};/.exec(read('packages/bench/src/main.ts')) ?? [];
  return new RegExp(`^ +'?${name}'?: `, 'm').test(table);
}
