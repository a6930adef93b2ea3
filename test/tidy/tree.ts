/** The files of the repository, without what is built or installed. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const texts = new Map<string, string>();

export function read(path: string): string {
  const text = texts.get(path) ?? readFileSync(join(root, path), 'utf8');
  texts.set(path, text);
  return text;
}

export const exists = (path: string): boolean => existsSync(join(root, path));

const tree = ['packages', 'services', 'test', 'deploy', 'docs']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
      join(folder, path),
    ),
  )
  .concat(readdirSync(root))
  .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path))
  .sort();

export const find = (pattern: RegExp): string[] => tree.filter((path) => pattern.test(path));

/**
 * Whether a file is for tests alone: it is no user of an export, and may be longer in one function.
 */
export const isTest = (path: string): boolean => /\.test\.ts$|^test\//.test(path);

/** TypeScript of packages and services with the tests beside it. */
export const sources = find(/^(packages|services)\/[^/]+\/src\/.*\.ts$/);
export const code = sources.filter((path) => !isTest(path));
/** Everything that a person wrote in TypeScript or JavaScript. */
export const everything = find(/^(packages|services|test|deploy|docs)\/.*\.(ts|mjs)$|^[^/]+\.ts$/);
export const pages = find(/^([^/]+|docs\/.*|services\/[^/]+\/README)\.md$/);

/** The package or service that a file belongs to. */
export const owner = (path: string): string => path.split('/')[1] ?? '';
