/** Which exports nobody needs: no other file imports them, or tests alone do. */
import { syntaxOf } from './syntax.ts';
import { everything, isTest } from './tree.ts';

/**
 * Exports of these are used by what is no TypeScript of ours: the WebAssembly, a reader, vitest,
 * users of the client.
 */
const entries =
  /^packages\/(?:kernels\/assembly|client\/src)\/index\.ts$|^docs\/examples\/|^test\/provision\.ts$|^[^/]+$/;

const isForTests = (path: string): boolean => isTest(path) || path.startsWith('packages/testkit/');

/**
 * The exports, as `path: name`, that no file uses. What only tests use counts as unused, unless it
 * was written for tests. A name that index.ts exports again is used where another package imports
 * it.
 */
export function deadExports(): string[] {
  const used = new Set<string>();
  /** What index.ts exports, and where index.ts has it from. */
  const passedOn = new Map<string, string>();
  for (const path of everything) {
    for (const { from, name, as } of syntaxOf(path).imports) {
      if (isForTests(path) && !isForTests(from)) continue;
      if (as === undefined || entries.test(path)) used.add(`${from}: ${name}`);
      else passedOn.set(`${path}: ${as}`, `${from}: ${name}`);
    }
  }
  for (const [name, origin] of passedOn) if (used.has(name)) used.add(origin);
  const own = everything
    .filter((path) => !entries.test(path))
    .flatMap((path) => syntaxOf(path).exports.map((name) => `${path}: ${name}`));
  const isUsed = (name: string): boolean => used.has(name) || used.has(name.replace(/: .*/, ': *'));
  return [...own, ...passedOn.keys()].filter((name) => !isUsed(name)).sort();
}
