/** Builds the page into dist/page with Vite, unless its sources have not changed. */

import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const page = join(here, 'src', 'page');
const target = join(here, 'dist', 'page');
const stamp = `${target}.sha256`;

/** A digest of everything that the page is made from. */
function digest() {
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)));
  for (const folder of [page, join(here, 'src', 'live')]) {
    for (const name of readdirSync(folder).sort()) {
      if (name.endsWith('.test.ts') || !/\.(ts|css|html|svg)$/.test(name)) continue;
      hash.update(name).update(readFileSync(join(folder, name)));
    }
  }
  for (const name of ['uplot', 'vite']) {
    hash.update(readFileSync(join(here, 'node_modules', name, 'package.json')));
  }
  return hash.digest('hex');
}

const wanted = digest();
const isCurrent =
  existsSync(join(target, 'index.html')) &&
  existsSync(stamp) &&
  readFileSync(stamp, 'utf8') === wanted;

if (!isCurrent) {
  const { build } = await import('vite');
  mkdirSync(join(here, 'dist'), { recursive: true });
  // Built in a folder of its own and then renamed: a console may be reading the old files.
  const draft = `${target}.${process.pid}`;
  await build({
    configFile: false,
    root: page,
    logLevel: 'warn',
    build: {
      outDir: draft,
      emptyOutDir: true,
      target: 'es2023',
      modulePreload: { polyfill: false },
      // The page may load from its own origin only, so nothing is inlined as a data: URL.
      assetsInlineLimit: 0,
      // What is built in is minified, and its licence asks for a copy beside it.
      license: { fileName: 'licenses.md' },
    },
  });
  rmSync(target, { recursive: true, force: true });
  renameSync(draft, target);
  writeFileSync(stamp, wanted);
}
