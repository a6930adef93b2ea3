/** What does the Dockerfile do, step by step, and which files does it get to see? */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Instruction {
  readonly name: string;
  readonly value: string;
}

/** One list of instructions per stage, each beginning with its FROM. */
export function stages(): Instruction[][] {
  const found: Instruction[][] = [];
  const text = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8');
  const lines = text.replaceAll(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  for (const line of lines.split('\n').filter((each) => each.trim() !== '')) {
    const [, name = '', value = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') found.push([]);
    found.at(-1)?.push({ name, value });
  }
  return found;
}

export function valuesOf(stage: readonly Instruction[] | undefined, name: string): string[] {
  return (stage ?? []).filter((each) => each.name === name).map(({ value }) => value);
}

/** The variables that an image sets, from its ENV instructions. */
export function variablesOf(stage: readonly Instruction[] | undefined): Record<string, string> {
  const pairs = valuesOf(stage, 'ENV').join(' ').split(/\s+/);
  return Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]));
}

/** True for a path that .dockerignore keeps out of a build. */
export function isIgnored(path: string): boolean {
  const patterns = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  return patterns
    .filter((line) => line !== '' && !line.startsWith('#'))
    .some((pattern) => matcher(pattern).test(path));
}

function matcher(pattern: string): RegExp {
  const source = pattern
    .replaceAll('.', '\\.')
    .replaceAll('**/', '(?:.+/)?')
    .replaceAll(/\*/g, '[^/]*');
  return new RegExp(`^${source}(?:/|$)`);
}
