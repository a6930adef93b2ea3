/** Which lines are wider than the page? */
import { syntaxOf } from './syntax.ts';
import { read } from './tree.ts';

const COLUMNS = 100;

/**
 * As `path:line`. Text in quotes does not count: nothing breaks a message or a test's name in two.
 */
export function wideLines(path: string): string[] {
  const text = read(path);
  let from = 0;
  return text.split('\n').flatMap((line, at) => {
    const start = from;
    from += line.length + 1;
    const isWide = line.length > COLUMNS && line.length - quoted(path, start, from) > COLUMNS;
    return isWide ? [`${path}:${at + 1}`] : [];
  });
}

/**
 * How many characters between two places of a file stand in quotes, backticks or between slashes.
 */
function quoted(path: string, from: number, to: number): number {
  if (!/\.(ts|mjs)$/.test(path)) return 0;
  return syntaxOf(path)
    .literals.map(({ start, end }) => Math.min(end, to) - Math.max(start, from))
    .reduce((sum, length) => sum + Math.max(0, length), 0);
}
