/**
 * Makes this process fetch as kafkajs does by itself. Freshet replaces one function of it with a faster one when
 * @freshet/stream is loaded; a baseline that did the same would move whenever that is improved. Services are
 * processes of their own and keep theirs.
 */
import { createRequire } from 'node:module';

/** By which @freshet/stream marks what it has put there. */
const REPLACED = Symbol.for('freshet.fetch-decoding');

/** Called before the first fetch: kafkajs loads its decoders when it needs them. */
export function fetchPlainly(): void {
  const { cache } = createRequire(import.meta.url);
  for (const [path, module] of Object.entries(cache)) {
    if (module?.exports?.[REPLACED] === true) delete cache[path];
  }
}
